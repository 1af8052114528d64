// Works that are waited for together: one failure hides no other work, and none is swallowed.
import { expect, test } from 'vitest';
import { settleAll } from '../../../shared/function/settle-all.ts';

test('the first failure is thrown, and not before the other works ended', async () => {
  const slow = Promise.withResolvers<void>();
  const first = Promise.reject(new Error('first'));
  const order: string[] = [];
  const all = settleAll([first, slow.promise, Promise.reject(new Error('second'))]).catch(
    (error: unknown) => void order.push(String(error)),
  );
  await expect(first).rejects.toThrow('first');
  order.push('slow ends');
  slow.resolve();
  await all;
  expect(order).toEqual(['slow ends', 'Error: first']);
});
