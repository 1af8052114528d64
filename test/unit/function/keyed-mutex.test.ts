// Nobody is answered before a look that began after he came has ended, and well.
import { expect, test } from 'vitest';
import { KeyedMutex } from '../../../shared/function/keyed-mutex.ts';

/** Looks at a value that others change, each as long as it is held up. */
class Looker {
  readonly mutex = new KeyedMutex();
  readonly seen: number[] = [];
  readonly held: PromiseWithResolvers<void>[] = [];
  value = 0;

  take(): Promise<void> {
    return this.mutex.run('a', async () => {
      const held = Promise.withResolvers<void>();
      this.held.push(held);
      const { value } = this;
      await held.promise;
      this.seen.push(value);
    });
  }
}

const soon = () => new Promise((resolve) => void setImmediate(resolve));
const outcomesOf = async (turns: readonly Promise<void>[]): Promise<readonly string[]> => {
  const pending = Symbol('pending');
  const settled = turns.map((one) =>
    Promise.race([one.then(() => 'done', String), soon().then(() => pending)]),
  );
  return (await Promise.all(settled)).map(String);
};

test('the third who comes is answered when a look that began after him is over', async () => {
  const looker = new Looker();
  const turns = [looker.take(), looker.take()];
  looker.value = 1;
  turns.push(looker.take());
  await soon();
  expect(await outcomesOf(turns)).toEqual(Array(3).fill('Symbol(pending)'));
  looker.held[0]?.resolve();
  await soon();
  expect(await outcomesOf(turns)).toEqual(['done', 'Symbol(pending)', 'Symbol(pending)']);
  looker.held[1]?.resolve();
  await Promise.all(turns);
  expect(looker.seen).toEqual([0, 1]);
});

test('where that look fails all who wait are told, and the next one begins', async () => {
  const looker = new Looker();
  const turns = [looker.take(), looker.take(), looker.take()];
  looker.held[0]?.resolve();
  await soon();
  looker.held[1]?.reject(new Error('no'));
  expect(await Promise.allSettled(turns)).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected' },
    { status: 'rejected' },
  ]);
  const again = looker.take();
  looker.held[2]?.resolve();
  await again;
});

test('however many come, four wait, and a look follows the last of them', async () => {
  const looker = new Looker();
  const turns = Array.from({ length: 50 }, () => looker.take());
  looker.value = 50;
  const outcomes = await outcomesOf(turns);
  expect(outcomes.filter((one) => one !== 'done')).toHaveLength(5);
  looker.held[0]?.resolve();
  await soon();
  looker.held[1]?.resolve();
  await Promise.all(turns);
  expect(looker.seen).toEqual([0, 50]);
});

test('who had to wait is told so, since what he read before is old', async () => {
  const mutex = new KeyedMutex();
  const waited: boolean[] = [];
  const take = () => mutex.run('a', async (hasWaited) => void waited.push(hasWaited));
  await Promise.all([take(), take(), take()]);
  await take();
  expect(waited).toEqual([false, true, false]);
});
