// Decisions in words: as much as a person reads, and how much more there is.
import { expect, test } from 'vitest';
import { joined, listed, waitFor } from '../../../shared/stateful/decision.ts';

const reasons = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    reason: `Reason${index}`,
    message: `Sentence ${index}.`,
  }));
const names = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);

test.each([
  [0, ''],
  [2, 'Sentence 0. Sentence 1.'],
])('of %d reasons all are told', (count, text) => {
  expect(joined(reasons(count))).toBe(text);
});

test('of very many reasons the first are told, and how many there are besides', () => {
  expect(joined(reasons(8))).toMatch(/Sentence 7\.$/);
  expect(joined(reasons(3_000))).toMatch(/Sentence 7\. And 2992 more\.$/);
});

test.each([
  [1, 's0'],
  [3, 's0, s1, s2'],
  [10, 's0, s1, s2, s3, s4, s5, s6, s7 and 2 more'],
])('%d names in a sentence', (count, text) => {
  expect(listed(names(count))).toBe(text);
});

test('who waits says the first reason, and tells a person only what needs one', () => {
  const [first, second] = reasons(2);
  if (first === undefined || second === undefined) throw new Error('there are two');
  const message = 'Sentence 0. Sentence 1.';
  const waits = { next: 'Go on', waitsFor: { reason: 'Reason0', message } };
  expect(waitFor('Go on', [first, second])).toEqual(waits);
  expect(waitFor('Go on', [first, second], second)).toEqual({ ...waits, trouble: second });
  expect(waitFor('Go on', []).waitsFor).toEqual({ reason: 'Waiting', message: '' });
});
