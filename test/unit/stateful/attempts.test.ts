// Steps that change nothing: a few are let pass, then fewer and fewer, and whoever reads the status
// learns of it.
import { expect, test } from 'vitest';
import { type AttemptLog, holdBack, keepRefusal } from '../../../shared/stateful/attempts.ts';

/** The seconds in which a step is let pass that is tried each second. */
function secondsOf(isAsking: boolean, seconds: number): readonly number[] {
  const attempts: AttemptLog = new Map();
  const attempt = { key: 'step', next: 'Turn it on', isAsking };
  return Array.from({ length: seconds }, (_, second) => second).filter(
    (second) => holdBack(attempts, attempt, second * 1_000) === undefined,
  );
}

test('three tries are let pass at once, and then pauses double up to five minutes', () => {
  const tried = [0, 1, 2, 17, 47, 107, 227, 467, 767, 1_067];
  expect(secondsOf(false, 1_100)).toEqual(tried);
});

test('a server is asked for three minutes, and then once a minute', () => {
  const first = Array.from({ length: 180 }, (_, second) => second);
  expect(secondsOf(true, 400)).toEqual([...first, 239, 299, 359]);
});

test('a step that is held back is told with its number of tries, and since when', () => {
  const attempts: AttemptLog = new Map();
  const attempt = { key: 'step', next: 'Turn it on', isAsking: false };
  for (let tries = 0; tries < 3; tries += 1) holdBack(attempts, attempt, tries * 1_000);
  const reason = holdBack(attempts, attempt, 3_000);
  expect(reason?.reason).toBe('NoEffect');
  expect(reason?.message).toContain('Turn it on: done 3 times since 1970-01-01T00:00:00Z');
});

test('a step that the API server refused says why for as long as it is held back', () => {
  const attempts: AttemptLog = new Map();
  const attempt = { key: 'step', next: 'Create the Job', isAsking: false };
  const refusal = { reason: 'ApiServerRefused', message: 'A policy refuses it.' };
  for (let tries = 0; tries < 3; tries += 1) {
    expect(holdBack(attempts, attempt, 0)).toBeUndefined();
    keepRefusal(attempts, attempt, refusal);
  }
  expect(holdBack(attempts, attempt, 3_000)).toEqual(refusal);
  // It was taken, and taken back.
  expect(holdBack(attempts, attempt, 15_000)).toBeUndefined();
  expect(holdBack(attempts, attempt, 16_000)?.reason).toBe('NoEffect');
});

test('another step is not held back with it, and a step of long ago is forgotten', () => {
  const attempts: AttemptLog = new Map();
  const attempt = { key: 'step', next: 'Turn it on', isAsking: false };
  for (let tries = 0; tries < 4; tries += 1) holdBack(attempts, attempt, 0);
  expect(holdBack(attempts, { ...attempt, key: 'other' }, 0)).toBeUndefined();
  holdBack(attempts, { ...attempt, key: 'other' }, 600_000);
  expect([...attempts.keys()]).toEqual(['other']);
});

test('what is wanted now so and then otherwise is not held back, and who takes it back is', () => {
  const attempts: AttemptLog = new Map();
  const attempt = { next: 'Update the budget', isAsking: false, about: 'budget' };
  const tried = (key: string) => holdBack(attempts, { ...attempt, key }, 0)?.reason;
  for (let times = 0; times < 9; times += 1) {
    expect(tried('none may go')).toBeUndefined();
    expect(tried('one may go')).toBeUndefined();
  }
  tried('one may go');
  tried('one may go');
  expect(tried('one may go')).toBe('NoEffect');
});
