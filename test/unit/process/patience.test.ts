// A part that is slow is waited for; one that hangs, or runs in circles, is not.
import { expect, test } from 'vitest';
import { Patience } from '../../../knative/try/local/process/patience.ts';

const LIMITS = { stillMs: 60, wholeMs: 600 };

test('a loaded machine: a part that moves is not killed, however slowly it starts', () => {
  const patience = new Patience(LIMITS, 0);
  for (let nowMs = 0; nowMs < 600; nowMs += 59) {
    expect(patience.whyOver(`${nowMs}`, nowMs)).toBeUndefined();
  }
});

test('a part in which nothing moves any more has its time, and no more', () => {
  const patience = new Patience(LIMITS, 0);
  expect(patience.whyOver('a', 10)).toBeUndefined();
  expect(patience.whyOver('a', 69)).toBeUndefined();
  expect(patience.whyOver('a', 70)).toBe('not ready, and nothing moved for 0.06 s');
});

test('a part that moves and never gets there has its time, too', () => {
  const patience = new Patience(LIMITS, 0);
  for (let nowMs = 0; nowMs < 600; nowMs += 50) patience.whyOver(`${nowMs}`, nowMs);
  expect(patience.whyOver('still busy', 600)).toBe('not ready within 0.6 s');
});
