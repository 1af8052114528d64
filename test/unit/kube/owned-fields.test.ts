// When a status need not be written: everything that its manager says already stands there, is its
// own, and is all that it owns.
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { ownsExactly } from '../../../shared/kube/owned-fields.ts';

const condition = (type: string) => ({ type, status: 'True', reason: 'Up', message: 'm' });
const ownCondition = { '.': {}, 'f:type': {}, 'f:status': {}, 'f:reason': {}, 'f:message': {} };
const fields = {
  'f:phase': {},
  'f:conditions': { 'k:{"type":"Ready"}': ownCondition },
  'f:sizes': { 'v:"small"': {}, 'v:"big"': {} },
};
const status = {
  phase: 'Up',
  observed: 3,
  conditions: [condition('Ready'), condition('OfAnother')],
  sizes: ['small', 'big', 'huge'],
};
const desired = { phase: 'Up', conditions: [condition('Ready')], sizes: ['big', 'small'] };

const object = (
  own: unknown = fields,
  entry: Readonly<Record<string, unknown>> = {},
): KubeObject => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'Thing',
  metadata: {
    name: 'a',
    uid: 'u',
    resourceVersion: '1',
    managedFields: [
      {
        manager: 'me',
        operation: 'Apply',
        subresource: 'status',
        apiVersion: 'ballast.dev/v1alpha1',
        fieldsV1: { 'f:status': own },
        ...entry,
      },
    ],
  },
  status,
});

test('what stands there already is not written, whatever others say beside it', () => {
  expect(ownsExactly(object(), 'me', desired)).toBe(true);
});

test('a field that is undefined is not said', () => {
  expect(ownsExactly(object(), 'me', { ...desired, more: undefined })).toBe(true);
});

describe('it is written when', () => {
  const rows: readonly [string, KubeObject, Readonly<Record<string, unknown>>][] = [
    ['a value differs', object(), { ...desired, phase: 'Down' }],
    ['a field is new', object(), { ...desired, more: 1 }],
    [
      'a field is no longer said',
      object(),
      { conditions: desired.conditions, sizes: desired.sizes },
    ],
    [
      'a condition differs',
      object(),
      { ...desired, conditions: [{ ...condition('Ready'), status: 'False' }] },
    ],
    [
      'a condition is new',
      object(),
      { ...desired, conditions: [condition('Ready'), condition('New')] },
    ],
    [
      'a condition is of another type',
      object(),
      { ...desired, conditions: [condition('OfAnother')] },
    ],
    [
      'a condition loses a field',
      object(),
      { ...desired, conditions: [{ type: 'Ready', status: 'True' }] },
    ],
    ['a value leaves a set', object(), { ...desired, sizes: ['big'] }],
    ['the same value stands there but is not ours', object(), { ...desired, observed: 3 }],
    [
      'an atomic list is in another order',
      object({ 'f:sizes': {} }),
      { sizes: ['big', 'small', 'huge'] },
    ],
    ['we own nothing yet', object(fields, { manager: 'other' }), desired],
    ['we wrote it by update', object(fields, { operation: 'Update' }), desired],
    [
      'we own it in another version of the API',
      object(fields, { apiVersion: 'ballast.dev/v1' }),
      desired,
    ],
    ['we own parts of the spec alone', object(fields, { subresource: '' }), desired],
  ];
  test.each(rows)('%s', (_, current, wanted) => {
    expect(ownsExactly(current, 'me', wanted)).toBe(false);
  });
});

test('an atomic list that is the same is not written', () => {
  const own = object({ 'f:sizes': {} });
  expect(ownsExactly(own, 'me', { sizes: ['small', 'big', 'huge'] })).toBe(true);
});
