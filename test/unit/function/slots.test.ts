// Turns: work that goes on and on holds up no other work.
import { expect, test } from 'vitest';
import { Slots } from '../../../shared/function/slots.ts';

test('who takes many turns waits between them for all the others', async () => {
  const slots = new Slots(1);
  const order: string[] = [];
  const worker = async (name: string, turns: number): Promise<void> => {
    for (let turn = 0; turn < turns; turn += 1) {
      await slots.take(async () => void order.push(name));
    }
  };
  await Promise.all([worker('busy', 20), worker('a', 2), worker('b', 2)]);
  expect(order.indexOf('b')).toBeLessThan(4);
  expect(order.lastIndexOf('b')).toBeLessThan(8);
  expect(order).toHaveLength(24);
});

test('work that fails gives its place back', async () => {
  const slots = new Slots(1);
  await expect(slots.take(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await slots.take(async () => 'yes')).toBe('yes');
});
