// The memory of an instance about the stream: all messages that are asked for, or none; and never
// many.
import { expect, test } from 'vitest';
import { LatestAbsences, PublishedCache } from '../../../functions/metadata/session-cache.ts';

const entry = (subject: string, sequence: number, bytes = 600) => ({
  subject,
  sequence,
  bytes,
  message: undefined,
});

/** Those of the subjects that it still knows. */
const known = (cache: PublishedCache, subjects: readonly string[]): readonly string[] =>
  subjects.filter((subject) => cache.find([subject]) !== undefined);

test('a subject with a message and one without are both cached', () => {
  const cache = new PublishedCache();
  cache.note('a', entry('a', 1));
  cache.note('b', undefined);
  expect(cache.find(['a', 'b'])).toEqual([entry('a', 1)]);
});

test('one subject that is not cached makes the whole answer unknown', () => {
  const cache = new PublishedCache();
  cache.note('a', entry('a', 1));
  expect(cache.find(['a', 'c'])).toBeUndefined();
});

test('the least recently used entry is dropped first', () => {
  const cache = new PublishedCache();
  const subjects = Array.from({ length: 3_900 }, (_, index) => `s${index}`);
  for (const subject of subjects) cache.note(subject, entry(subject, 1));
  cache.find(['s0']);
  for (let index = 0; index < 200; index += 1) cache.note(`more${index}`, entry('more', 1));
  expect(known(cache, ['s0', 's1', 's3899'])).toEqual(['s0', 's3899']);
});

test('a pod with 7,000 labels is not remembered, and drives out nothing', () => {
  const cache = new PublishedCache();
  cache.note('small', entry('small', 1));
  for (let index = 0; index < 102; index += 1) {
    cache.note(`huge${index}`, entry(`huge${index}`, 1, 500_000));
  }
  expect(known(cache, ['small', 'huge0', 'huge101'])).toEqual(['small']);
});

test('many messages of some size are bounded by their bytes', () => {
  const cache = new PublishedCache();
  const subjects = Array.from({ length: 1_000 }, (_, index) => `s${index}`);
  for (const subject of subjects) cache.note(subject, entry(subject, 1, 19_000));
  expect(known(cache, subjects).length).toBeLessThan(220);
});

test('a message that grew too large is not answered from its older size', () => {
  const cache = new PublishedCache();
  cache.note('a', entry('a', 1));
  cache.note('a', entry('a', 2, 500_000));
  expect(cache.find(['a'])).toBeUndefined();
});

test('the latest absence counts, by number and by resource', () => {
  const absences = new LatestAbsences();
  for (const asOf of ['9', '100', '11']) absences.note(1, 'pods', asOf);
  absences.note(1, 'services', '18446744073709551615');
  absences.note(1, 'services', '9007199254740993');
  expect(absences.latest(1, 'pods')).toBe('100');
  expect(absences.latest(1, 'services')).toBe('18446744073709551615');
  expect(absences.latest(1, 'nodes')).toBeUndefined();
});

test('an absence from before a restore of etcd says nothing about the next epoch', () => {
  const absences = new LatestAbsences();
  absences.note(1, 'pods', '100');
  expect(absences.latest(2, 'pods')).toBeUndefined();
  absences.note(2, 'services', '7');
  expect(absences.latest(2, 'pods')).toBeUndefined();
});
