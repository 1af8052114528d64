// A flood of letters is neither counted twice nor passed on to the API server.
import { expect, test } from 'vitest';
import { Deps } from '../../../functions/dead-letters/deps.ts';
import { systemClock } from '../../../shared/clock.ts';
import { Metrics } from '../../../shared/function/metrics.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';

function doorsAt(nowMs: () => number) {
  const metrics = new Metrics();
  const deps = new Deps({
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing is written here
    kube: {} as KubeClient,
    clock: { ...systemClock, nowMs },
    metrics,
    place: { namespace: 'ns', broker: 'b' },
    functions: ['metadata'],
    instance: 'i',
  });
  return { deps, metrics };
}

test('of letters that come while one is written, all are written together', async () => {
  const { deps } = doorsAt(() => 0);
  const counts: number[] = [];
  const gate = Promise.withResolvers<void>();
  const write = async (count: number): Promise<void> => {
    counts.push(count);
    await gate.promise;
  };
  const first = deps.writeInBatch('e', write);
  await Promise.resolve();
  await Promise.resolve();
  const rest = [1, 2, 3].map(() => deps.writeInBatch('e', write));
  const other = deps.writeInBatch('f', write);
  gate.resolve();
  await Promise.all([first, ...rest, other]);
  expect(counts.toSorted((a, b) => a - b)).toEqual([1, 1, 3]);
});

test('a write that fails is told to those it was for, and the next goes on', async () => {
  const { deps } = doorsAt(() => 0);
  const fails = deps.writeInBatch('e', () => Promise.reject(new Error('no')));
  await expect(fails).rejects.toThrow('no');
  await expect(deps.writeInBatch('e', () => Promise.resolve())).resolves.toBeUndefined();
});

test('a letter that comes again is counted once', () => {
  const { deps, metrics } = doorsAt(() => 0);
  const labels = { function: 'metadata', code: '503' };
  for (const id of ['1', '2', '1']) deps.count(id, labels);
  const counter = metrics.counter('ballast_dead_letters_total', '', ['function', 'code']);
  expect(counter.of(labels).value).toBe(2);
});

test('thirty objects a minute are named, those that are known again and again', () => {
  let now = 0;
  const { deps } = doorsAt(() => now);
  const names = Array.from({ length: 40 }, (_, index) => `e${index}`);
  expect(names.filter((name) => deps.mayWriteOnObject(name))).toHaveLength(30);
  expect([deps.mayWriteOnObject('e0'), deps.mayWriteOnObject('e39')]).toEqual([true, false]);
  now = 60_000;
  expect(deps.mayWriteOnObject('e39')).toBe(true);
});

test('on the broker ten causes a minute are told apart', () => {
  let now = 0;
  const { deps } = doorsAt(() => now);
  const names = Array.from({ length: 40 }, (_, index) => `e${index}`);
  expect(names.filter((name) => deps.mayWriteOnBroker(name))).toHaveLength(10);
  expect([deps.mayWriteOnBroker('e0'), deps.mayWriteOnBroker('e39')]).toEqual([true, false]);
  now = 60_000;
  expect(deps.mayWriteOnBroker('e39')).toBe(true);
});
