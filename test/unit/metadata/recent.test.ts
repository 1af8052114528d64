// What an instance remembers of the stream: all of what is asked for, or nothing; and never much.
import { expect, test } from 'vitest';
import { Recent } from '../../../functions/metadata/recent.ts';

const entry = (subject: string, sequence: number) => ({ subject, sequence, message: undefined });

test('what is known to stand and what is known not to are both known', () => {
  const recent = new Recent();
  recent.note('a', entry('a', 1));
  recent.note('b', undefined);
  expect(recent.find(['a', 'b'])).toEqual([entry('a', 1)]);
});

test('one unknown subject makes all of them unknown', () => {
  const recent = new Recent();
  recent.note('a', entry('a', 1));
  expect(recent.find(['a', 'c'])).toBeUndefined();
});

test('the least used is forgotten first', () => {
  const recent = new Recent();
  for (let index = 0; index < 4_000; index += 1) recent.note(`s${index}`, undefined);
  recent.find(['s0']);
  recent.note('more', undefined);
  expect([recent.find(['s0']), recent.find(['s1'])]).toEqual([[], undefined]);
});
