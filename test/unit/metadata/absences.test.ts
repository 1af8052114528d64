// As of when something was last found to be gone: versions only go up, and only within an epoch.
import { expect, test } from 'vitest';
import { Absences } from '../../../functions/metadata/absences.ts';

test('the latest counts, by number and by resource', () => {
  const absences = new Absences();
  for (const asOf of ['9', '100', '11']) absences.note(1, 'pods', asOf);
  absences.note(1, 'services', '18446744073709551615');
  absences.note(1, 'services', '9007199254740993');
  expect(absences.latest(1, 'pods')).toBe('100');
  expect(absences.latest(1, 'services')).toBe('18446744073709551615');
  expect(absences.latest(1, 'nodes')).toBeUndefined();
});

test('what was gone before etcd was restored says nothing of the epoch after it', () => {
  const absences = new Absences();
  absences.note(1, 'pods', '100');
  expect(absences.latest(2, 'pods')).toBeUndefined();
  absences.note(2, 'services', '7');
  expect(absences.latest(2, 'pods')).toBeUndefined();
});
