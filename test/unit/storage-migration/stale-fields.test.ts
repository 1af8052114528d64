// Which entries of managedFields are taken away, and what stays, as tables.
import { expect, test } from 'vitest';
import {
  hasEntries,
  hasStaleFields,
  undefinedVersionIn,
  withoutStale,
} from '../../../functions/storage-migration/stale-fields.ts';
import type { Target } from '../../../functions/storage-migration/observe.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../../shared/kube/objects.ts';
import { BUILT_IN, crd, target } from './samples.ts';

const NOW = '2026-11-21T12:00:00Z';

/** v1 is stored, v1beta1 served, v1alpha1 defined and not served; v0 was removed. */
const PARTLY: Target = {
  ...target(),
  crd: {
    ...crd(),
    versions: [
      { name: 'v1alpha1', served: false, storage: false },
      { name: 'v1beta1', served: true, storage: false },
      { name: 'v1', served: true, storage: true },
    ],
  },
};

const entry = (version: string, more: ManagedFieldsEntry = {}): ManagedFieldsEntry => ({
  manager: 'ann',
  operation: 'Apply',
  apiVersion: `example.com/${version}`,
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': { 'f:color': {} } },
  ...more,
});

const object = (...managedFields: readonly ManagedFieldsEntry[]): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w', uid: 'u1', resourceVersion: '1', managedFields },
});

const [GONE, UNSERVED, SERVED, STORED] = ['v0', 'v1alpha1', 'v1beta1', 'v1'].map((one) =>
  entry(one),
) as [ManagedFieldsEntry, ManagedFieldsEntry, ManagedFieldsEntry, ManagedFieldsEntry];
const STATUS = entry('v1', { subresource: 'status' });
const OTHERS = entry('v0', { apiVersion: 'other.com/v0' });
const CURRENT = [SERVED, STORED, STATUS];
const ODD = { manager: 'odd' };
const SEED = {
  manager: 'ballast-storage-migration',
  operation: 'Update',
  apiVersion: 'example.com/v1',
  time: NOW,
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:metadata': { 'f:name': {} } },
};

/** A name, the entries, those that stay, and the version that is not defined at all. */
type Row = readonly [
  title: string,
  entries: readonly ManagedFieldsEntry[],
  stays: readonly ManagedFieldsEntry[],
  missing: string | undefined,
];

const ROWS: readonly Row[] = [
  ['what is served stays', CURRENT, CURRENT, undefined],
  ['what is not served goes', [UNSERVED, STORED], [STORED], undefined],
  ['what is removed goes', [STATUS, GONE, SERVED], [STATUS, SERVED], 'v0'],
  [
    'both go, in all sub-resources',
    [GONE, UNSERVED, entry('v0', { subresource: 'status' }), STORED],
    [STORED],
    'v0',
  ],
  ['when all goes a seed comes', [UNSERVED], [SEED], undefined],
  ['a seed stays', [SEED, UNSERVED], [SEED], undefined],
  ['other groups and odd entries stay', [OTHERS, ODD, GONE], [OTHERS, ODD], 'v0'],
];

test.each<Row>(ROWS)('%s', (_what, entries, stays, missing) => {
  const before = object(...entries);
  expect(withoutStale(PARTLY, before, NOW)).toEqual(stays);
  expect(hasStaleFields(PARTLY, before)).toBe(stays !== entries);
  expect(undefinedVersionIn(PARTLY, before)).toBe(missing);
});

test('an object without managedFields is left as it is', () => {
  expect(hasStaleFields(PARTLY, object())).toBe(false);
});

test('of a kind without CRD nothing is stale', () => {
  expect(hasStaleFields(BUILT_IN, object(entry('v0', { apiVersion: 'v0' })))).toBe(false);
});

test.each([
  ['all are there', [SERVED, STORED], true],
  ['one more is there', [STORED, SERVED, STATUS], true],
  ['one owns other fields by now', [SERVED, { ...STORED, fieldsV1: {} }], true],
  ['one is gone', [STORED], false],
  ['one is of a sub-resource only', [SERVED, STATUS], false],
  ['none is there', [], false],
])('%s', (_what, there, isWhole) => {
  expect(hasEntries(object(...there), [SERVED, STORED])).toBe(isWhole);
});
