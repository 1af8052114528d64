// The pause between two looks ends early for news, and for the end.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Bell } from '../../../knative/try/local/view/bell.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

async function isOver(pause: Promise<void>): Promise<boolean> {
  return Promise.race([pause.then(() => true), vi.advanceTimersByTimeAsync(0).then(() => false)]);
}

test('a pause lasts its time when nothing happens', async () => {
  const pause = new Bell(new AbortController().signal).orAfter(1_000);
  await vi.advanceTimersByTimeAsync(999);
  expect(await isOver(pause)).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await isOver(pause)).toBe(true);
});

test('a ring ends the pause at once and leaves the next one whole', async () => {
  const bell = new Bell(new AbortController().signal);
  const first = bell.orAfter(1_000);
  bell.ring();
  expect(await isOver(first)).toBe(true);
  expect(await isOver(bell.orAfter(1_000))).toBe(false);
});

test('a ring between two pauses is not lost', async () => {
  const bell = new Bell(new AbortController().signal);
  bell.ring();
  expect(await isOver(bell.orAfter(1_000))).toBe(true);
  expect(await isOver(bell.orAfter(1_000))).toBe(false);
});

test('at the end no pause is made any more', async () => {
  const end = new AbortController();
  const bell = new Bell(end.signal);
  const pause = bell.orAfter(1_000);
  end.abort();
  expect(await isOver(pause)).toBe(true);
  expect(await isOver(bell.orAfter(1_000))).toBe(true);
});
