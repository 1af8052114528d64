// Conditions keep the moment of their last change, and those of others.
import { expect, test } from 'vitest';
import { setConditions } from '../../../shared/kube/conditions.ts';

const then = Date.parse('2026-11-21T12:00:00.700Z');
const later = then + 60_000;
const ready = { type: 'Ready', status: 'True', reason: 'AllUp', message: 'All are up.' } as const;
const first = setConditions(undefined, [ready], { observedGeneration: 1, nowMs: then });

test('a new condition begins now, to the second', () => {
  expect(first).toEqual([
    { ...ready, observedGeneration: 1, lastTransitionTime: '2026-11-21T12:00:00Z' },
  ]);
});

test('another reason, message or generation leaves the time of the last change alone', () => {
  const next = { ...ready, reason: 'StillUp', message: 'All are still up.' };
  expect(setConditions(first, [next], { observedGeneration: 2, nowMs: later })).toEqual([
    { ...next, observedGeneration: 2, lastTransitionTime: '2026-11-21T12:00:00Z' },
  ]);
});

test('another status is a change and has its own time', () => {
  const next = { ...ready, status: 'False', reason: 'OneDown' } as const;
  const [condition] = setConditions(first, [next], { nowMs: later });
  expect(condition).toEqual({ ...next, lastTransitionTime: '2026-11-21T12:01:00Z' });
});

test('conditions of other types stay as they are and where they are', () => {
  const other = { ...ready, type: 'Published' } as const;
  const both = setConditions(first, [other], { nowMs: later });
  expect(both.map(({ type }) => type)).toEqual(['Ready', 'Published']);
  expect(both[0]).toEqual(first[0]);
});

test('the list that was read is not changed', () => {
  const before = structuredClone(first);
  setConditions(first, [{ ...ready, status: 'Unknown' }], { nowMs: later });
  expect(first).toEqual(before);
});
