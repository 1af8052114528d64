// Tasks beside each other: a few at a time, results in order, and no new one after a failure.
import { expect, test } from 'vitest';
import { inParallel } from '../../../knative/try/local/cluster/in-parallel.ts';

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('results stand in the order of the items, and no more run at once than may', async () => {
  let running = 0;
  let most = 0;
  const results = await inParallel([3, 1, 2], 2, async (rounds) => {
    running += 1;
    most = Math.max(most, running);
    for (let round = 0; round < rounds; round += 1) await soon();
    running -= 1;
    return rounds * 10;
  });
  expect(results).toEqual([30, 10, 20]);
  expect(most).toBe(2);
});

test('after a failure no other is begun', async () => {
  const begun: number[] = [];
  const run = inParallel([0, 1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item);
    await soon();
    if (item === 0) throw new Error('the first one');
  });
  await expect(run).rejects.toThrow('the first one');
  for (let round = 0; round < 10; round += 1) await soon();
  expect(begun).toEqual([0, 1]);
});
