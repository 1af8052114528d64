// When a reader calls its feed stale: by its own time since it heard of a sweep.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Marker } from '../../../shared/feed/messages.ts';
import { type SweepState, Sweeps } from '../../../shared/nats/replica/sweeps.ts';
import { MovedClock } from '../../builders/moved-clock.ts';

const LIMIT_MS = 180_000;

let clock: MovedClock;
let sweeps: Sweeps;
let state: SweepState;

beforeEach(() => {
  clock = new MovedClock();
  state = {};
  sweeps = new Sweeps(clock, (told) => {
    state = told;
  });
});

afterEach(() => sweeps.close());

const marker = (sweepSeconds?: unknown): Marker => {
  const rest = { format: 1, id: 'i', epoch: 1, ready: true, resources: [], historySeconds: 1 };
  // As somebody may have written it.
  return { ...rest, sweepSeconds } as Marker;
};

test('no floor for two periods and a minute makes a feed stale, until one comes', async () => {
  sweeps.areDue(marker(60));
  sweeps.heard();
  const sweptAtMs = clock.nowMs();
  await clock.advance(LIMIT_MS - 1);
  expect(state).toEqual({ sweptAtMs });
  await clock.advance(1);
  expect(state).toEqual({ sweptAtMs, isStale: true });
  sweeps.heard();
  expect(state).toEqual({ sweptAtMs: clock.nowMs() });
});

test('each floor counts anew', async () => {
  sweeps.areDue(marker(60));
  for (let left = 5; left > 0; left -= 1) {
    sweeps.heard();
    await clock.advance(LIMIT_MS - 1);
    expect(state.isStale).toBeUndefined();
  }
});

test('what a reader finds in the stream is as old as its servers say', async () => {
  sweeps.areDue(marker(60));
  sweeps.found(LIMIT_MS - 1_000);
  expect(state.isStale).toBeUndefined();
  await clock.advance(1_000);
  expect(state).toEqual({ sweptAtMs: clock.nowMs() - LIMIT_MS, isStale: true });
});

test('a floor that has expired was written too long ago, whenever that was', () => {
  sweeps.areDue(marker(60));
  sweeps.found(Infinity);
  expect(state).toEqual({ isStale: true });
});

test('what was heard live is not made older by what the stream still has', async () => {
  sweeps.areDue(marker(60));
  sweeps.heard();
  const sweptAtMs = clock.nowMs();
  await clock.advance(1_000);
  sweeps.found(30_000);
  sweeps.found(Infinity);
  expect(state).toEqual({ sweptAtMs });
});

test('who comes to a feed that never was swept waits for as long, and says so then', async () => {
  sweeps.areDue(marker(60));
  await clock.advance(LIMIT_MS);
  expect(state).toEqual({ isStale: true });
});

test('the period is that of the marker, also when it changes', async () => {
  sweeps.areDue(marker(3_600));
  sweeps.heard();
  await clock.advance(7_259_000);
  expect(state.isStale).toBeUndefined();
  sweeps.areDue(marker(60));
  await clock.advance(LIMIT_MS);
  expect(state.isStale).toBe(true);
});

const odd: readonly [title: string, sweepSeconds: unknown, limitMs: number][] = [
  ['an older writer says none', undefined, LIMIT_MS],
  ['somebody wrote a text', '5', LIMIT_MS],
  ['it is nothing', 0, LIMIT_MS],
  ['a timer could not wait for it', 1e12, 2 * 86_400_000 + 60_000],
];

test.each(odd)('a period has bounds: %s', async (_what, sweepSeconds, limitMs) => {
  sweeps.areDue(marker(sweepSeconds));
  sweeps.heard();
  await clock.advance(limitMs - 1);
  expect(state.isStale).toBeUndefined();
  await clock.advance(1);
  expect(state.isStale).toBe(true);
});

test('a reader that was closed waits for nothing any more', async () => {
  sweeps.areDue(marker(60));
  sweeps.close();
  sweeps.heard();
  const closed = state;
  await clock.advance(LIMIT_MS);
  expect(state).toBe(closed);
});
