// What an instance remembers of the stream: all of what is asked for, or nothing; and never much.
import { expect, test } from 'vitest';
import { LatestAbsences, PublishedCache } from '../../../functions/metadata/session-cache.ts';

const entry = (subject: string, sequence: number, bytes = 600) => ({
  subject,
  sequence,
  bytes,
  message: undefined,
});

/** Of these it still knows. */
const known = (recent: PublishedCache, subjects: readonly string[]): readonly string[] =>
  subjects.filter((subject) => recent.find([subject]) !== undefined);

test('what is known to stand and what is known not to are both known', () => {
  const recent = new PublishedCache();
  recent.note('a', entry('a', 1));
  recent.note('b', undefined);
  expect(recent.find(['a', 'b'])).toEqual([entry('a', 1)]);
});

test('one unknown subject makes all of them unknown', () => {
  const recent = new PublishedCache();
  recent.note('a', entry('a', 1));
  expect(recent.find(['a', 'c'])).toBeUndefined();
});

test('the least used is forgotten first', () => {
  const recent = new PublishedCache();
  const subjects = Array.from({ length: 3_900 }, (_, index) => `s${index}`);
  for (const subject of subjects) recent.note(subject, entry(subject, 1));
  recent.find(['s0']);
  for (let index = 0; index < 200; index += 1) recent.note(`more${index}`, entry('more', 1));
  expect(known(recent, ['s0', 's1', 's3899'])).toEqual(['s0', 's3899']);
});

test('a pod with 7,000 labels is not remembered, and drives out nothing', () => {
  const recent = new PublishedCache();
  recent.note('small', entry('small', 1));
  for (let index = 0; index < 102; index += 1) {
    recent.note(`huge${index}`, entry(`huge${index}`, 1, 500_000));
  }
  expect(known(recent, ['small', 'huge0', 'huge101'])).toEqual(['small']);
});

test('many messages of some size are bounded by their bytes', () => {
  const recent = new PublishedCache();
  const subjects = Array.from({ length: 1_000 }, (_, index) => `s${index}`);
  for (const subject of subjects) recent.note(subject, entry(subject, 1, 19_000));
  expect(known(recent, subjects).length).toBeLessThan(220);
});

test('what grew too large to be remembered is not remembered as it was', () => {
  const recent = new PublishedCache();
  recent.note('a', entry('a', 1));
  recent.note('a', entry('a', 2, 500_000));
  expect(recent.find(['a'])).toBeUndefined();
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

test('what was gone before etcd was restored says nothing of the epoch after it', () => {
  const absences = new LatestAbsences();
  absences.note(1, 'pods', '100');
  expect(absences.latest(2, 'pods')).toBeUndefined();
  absences.note(2, 'services', '7');
  expect(absences.latest(2, 'pods')).toBeUndefined();
});
