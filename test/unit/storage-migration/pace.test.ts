// How many writes are under way: more while answers come fast, fewer when they become slow or are
// refused, and never more a second than was allowed. Time is put in by hand.
import { expect, test } from 'vitest';
import { inPace, Pace } from '../../../functions/storage-migration/pace.ts';
import { HandClock } from '../../builders/hand-clock.ts';

const { signal } = new AbortController();
const FAST = { tookMs: 5 };

function after(pace: Pace, count: number, took: Parameters<Pace['note']>[0]): number {
  for (let i = 0; i < count; i += 1) pace.note(took);
  return pace.limit;
}

test('it begins low, climbs while answers come fast, and stops at the ceiling', () => {
  const pace = new Pace({ concurrency: 16 }, new HandClock());
  expect(pace.limit).toBe(2);
  expect(after(pace, 60, FAST)).toBeGreaterThan(8);
  expect(after(pace, 1_000, FAST)).toBe(16);
});

test('it never begins above the ceiling', () => {
  expect(new Pace({ concurrency: 1 }, new HandClock()).limit).toBe(1);
});

test('it gives way when answers become slow, and comes back', () => {
  const pace = new Pace({ concurrency: 16 }, new HandClock());
  after(pace, 1_000, FAST);
  expect(after(pace, 200, { tookMs: 300 })).toBeLessThan(6);
  expect(after(pace, 1_000, FAST)).toBe(16);
});

test('answers that always took long are no reason to give way', () => {
  const pace = new Pace({ concurrency: 16 }, new HandClock());
  expect(after(pace, 1_000, { tookMs: 300 })).toBe(16);
});

test('where two are worked on side by side, about two more wait for their turn', () => {
  const pace = new Pace({ concurrency: 16 }, new HandClock());
  for (let i = 0; i < 2_000; i += 1) pace.note({ tookMs: 5 * Math.max(1, pace.limit / 2) });
  expect(pace.limit).toBeGreaterThanOrEqual(3);
  expect(pace.limit).toBeLessThanOrEqual(5);
});

test('a refusal halves it at once, down to one', () => {
  const pace = new Pace({ concurrency: 16 }, new HandClock());
  after(pace, 1_000, FAST);
  const throttled = { retryAfterMs: 1_000 };
  expect(after(pace, 1, { tookMs: 1, throttled })).toBe(8);
  expect(after(pace, 9, { tookMs: 1, throttled })).toBe(1);
});

test('after a refusal nobody begins before the server wants it', async () => {
  const clock = new HandClock();
  const pace = new Pace({ concurrency: 16 }, clock);
  pace.note({ tookMs: 1, throttled: { retryAfterMs: 700 } });
  await pace.turn(signal);
  expect(clock.nowMs()).toBe(700);
});

test('no more a second than was allowed', async () => {
  const clock = new HandClock();
  const pace = new Pace({ concurrency: 16, requestsPerSecond: 20 }, clock);
  for (let i = 0; i < 41; i += 1) await pace.turn(signal);
  expect(clock.nowMs()).toBe(2_000);
});

interface Worked {
  readonly items: readonly number[];
  readonly mostAtOnce: number;
}

async function walk(count: number, isOver = () => false, failAt = -1): Promise<Worked> {
  const pace = new Pace({ concurrency: 4 }, new HandClock());
  after(pace, 100, FAST);
  const items: number[] = [];
  let [underWay, mostAtOnce] = [0, 0];
  const all = Array.from({ length: count }, (_, index) => index);
  await inPace({ pace, signal, isOver }, all, async (item) => {
    underWay += 1;
    mostAtOnce = Math.max(mostAtOnce, underWay);
    items.push(item);
    // Long enough for others to begin.
    for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
    underWay -= 1;
    if (item === failAt) throw new Error(`item ${item}`);
  });
  return { items, mostAtOnce };
}

test('items are worked through in order, as many at once as the pace allows', async () => {
  const { items, mostAtOnce } = await walk(20);
  expect(items).toEqual(Array.from({ length: 20 }, (_, index) => index));
  expect(mostAtOnce).toBe(4);
});

test('when time is over a beginning of the list is done, and never none', async () => {
  let checks = 0;
  const { items } = await walk(20, () => (checks += 1) > 6);
  expect(items).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect((await walk(20, () => true)).items).toEqual([0]);
});

test('after a failure nothing more is begun, and it is told', async () => {
  await expect(walk(20, () => false, 3)).rejects.toThrow('item 3');
});
