// Conditions keep the moment of their last change, and those of others are not taken over.
import { expect, test } from 'vitest';
import { type Condition, setConditions } from '../../../shared/kube/conditions.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';

const then = Date.parse('2026-11-21T12:00:00.700Z');
const later = then + 60_000;
const ready = { type: 'Ready', status: 'True', reason: 'AllUp', message: 'All are up.' } as const;
const published = { ...ready, type: 'Published' } as const;

/** An object with these conditions; `owners` says whose each type is. */
const objectWith = (
  conditions: readonly Condition[],
  owners: Readonly<Record<string, readonly string[]>>,
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: {
    name: 'a',
    uid: 'u',
    resourceVersion: '1',
    managedFields: Object.entries(owners).map(([manager, types]) => ({
      manager,
      operation: 'Apply',
      subresource: 'status',
      fieldsV1: {
        'f:status': {
          'f:conditions': Object.fromEntries(
            types.map((type) => [`k:${JSON.stringify({ type })}`, { '.': {}, 'f:type': {} }]),
          ),
        },
      },
    })),
  },
  status: { conditions },
});

const fieldManager = 'fn';
const nothing = objectWith([], {});
const first = setConditions(nothing, [ready], { fieldManager, observedGeneration: 1, nowMs: then });
const said = objectWith(first, { fn: ['Ready'] });

test('a new condition begins now, to the second', () => {
  expect(first).toEqual([
    { ...ready, observedGeneration: 1, lastTransitionTime: '2026-11-21T12:00:00Z' },
  ]);
});

test('another reason, message or generation leaves the time of the last change alone', () => {
  const next = { ...ready, reason: 'StillUp', message: 'All are still up.' };
  const moment = { fieldManager, observedGeneration: 2, nowMs: later };
  expect(setConditions(said, [next], moment)).toEqual([
    { ...next, observedGeneration: 2, lastTransitionTime: '2026-11-21T12:00:00Z' },
  ]);
});

test('another status is a change and has its own time', () => {
  const next = { ...ready, status: 'False', reason: 'OneDown' } as const;
  const [condition] = setConditions(said, [next], { fieldManager, nowMs: later });
  expect(condition).toEqual({ ...next, lastTransitionTime: '2026-11-21T12:01:00Z' });
});

test('our conditions of other types stay as they are and where they are', () => {
  const both = setConditions(said, [published], { fieldManager, nowMs: later });
  expect(both.map(({ type }) => type)).toEqual(['Ready', 'Published']);
  expect(both[0]).toEqual(first[0]);
});

test("another manager's conditions are not ours to apply", () => {
  const object = objectWith(first, { other: ['Ready'], fn: ['Published'] });
  const own = setConditions(object, [published], { fieldManager, nowMs: later });
  expect(own.map(({ type }) => type)).toEqual(['Published']);
});

test('a condition that is taken over keeps the time of its last change', () => {
  const object = objectWith(first, { other: ['Ready'] });
  const [condition] = setConditions(object, [ready], { fieldManager, nowMs: later });
  expect(condition?.lastTransitionTime).toBe('2026-11-21T12:00:00Z');
});

test('where the list has no keys it is applied whole', () => {
  const object = objectWith(first, { other: [] });
  const all = setConditions(object, [published], { fieldManager, nowMs: later });
  expect(all.map(({ type }) => type)).toEqual(['Ready', 'Published']);
});

test('the object that was read is not changed', () => {
  const before = structuredClone(said);
  setConditions(said, [{ ...ready, status: 'Unknown' }], { fieldManager, nowMs: later });
  expect(said).toEqual(before);
});
