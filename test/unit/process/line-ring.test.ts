// The last words of a part: whole lines, newest last, bounded.
import { expect, test } from 'vitest';
import { LineRing } from '../../../knative/try/local/process/line-ring.ts';

test('lines that arrive in pieces are put together', () => {
  const ring = new LineRing();
  ring.push('one\ntw');
  ring.push('o\nthr');
  expect(ring.last(9)).toEqual(['one', 'two', 'thr']);
});

test('empty lines are nobody’s last words', () => {
  const ring = new LineRing();
  ring.push('panic: gone\n\n  \n');
  expect(ring.last(1)).toEqual(['panic: gone']);
});

test('memory is bounded by number and by length of lines', () => {
  const ring = new LineRing();
  for (let line = 0; line < 500; line += 1) ring.push(`${line}\n`);
  ring.push('x'.repeat(1_000_000));
  const lines = ring.last(1_000);
  expect(lines.length).toBe(201);
  expect(lines.at(-2)).toBe('499');
  expect(lines.at(-1)?.length).toBe(2_000);
});
