// Objects that are made from the schemas go to the other version and back, as the API server has
// them do it, and are what they were.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { convertObject } from '../../../shared/kube/own-kinds/convert.ts';
import { KINDS } from '../../../shared/kube/own-kinds/kinds.ts';
import { annotationOf } from '../../../shared/kube/own-kinds/kept.ts';
import type { Fields, Part } from '../../../shared/kube/own-kinds/part.ts';
import { apiVersionOf, type Version } from '../../../shared/kube/own-kinds/versions.ts';
import { objectsOf } from '../../builders/objects-of.ts';
import { asRead, OWN_KINDS } from '../../builders/own-kinds.ts';

const RUNS = { numRuns: 50 };
const partsOf = (kind: string): readonly Part[] => KINDS.get(kind) ?? [];
/** Names of fields in one version that another does not know. */
const OTHERS = [
  ...new Set([...KINDS.values()].flat().flatMap(({ names }) => names)),
  'unknown',
  '__proto__',
];

const DIRECTIONS: readonly (readonly [Version, Version])[] = [
  ['v1alpha1', 'v1beta1'],
  ['v1beta1', 'v1alpha1'],
];

test('every kind that is defined is converted, and no other', () => {
  expect([...KINDS.keys()]).toEqual(OWN_KINDS.map(({ kind }) => kind).toSorted());
});

describe.each(OWN_KINDS)('$kind', (own) => {
  const parts = partsOf(own.kind);

  test.each(DIRECTIONS)('%s to %s and back, with fields gone and filled in', (from, to) => {
    const objects = objectsOf(own.kind, apiVersionOf(from), own[from]);
    fc.assert(
      fc.property(objects, (made) => {
        const object = asRead(own[from], made);
        const there = asRead(own[to], convertObject(object, parts, from, to));
        expect(there['apiVersion']).toBe(apiVersionOf(to));
        expect(asRead(own[from], convertObject(there, parts, to, from))).toEqual(object);
      }),
      RUNS,
    );
  });

  test.each(DIRECTIONS)('%s to %s and back, with fields that nobody knows', (from, to) => {
    const options = { others: OTHERS };
    fc.assert(
      fc.property(objectsOf(own.kind, apiVersionOf(from), own[from], options), (object) => {
        const there = convertObject(object, parts, from, to);
        expect(convertObject(there, parts, to, from)).toEqual(object);
      }),
      RUNS,
    );
  });

  test.each(DIRECTIONS)('%s to %s changes of the metadata only one annotation', (from, to) => {
    const objects = objectsOf(own.kind, apiVersionOf(from), own[from], { others: OTHERS });
    fc.assert(
      fc.property(objects, (object) => {
        const { metadata } = convertObject(object, parts, from, to);
        const before = object['metadata'] as { annotations?: Fields };
        const { annotations = {}, ...rest } = metadata as { annotations?: Fields };
        const { [annotationOf(from)]: _own, ...others } = annotations;
        const { annotations: othersBefore = {}, ...restBefore } = before;
        expect({ rest, others }).toEqual({ rest: restBefore, others: othersBefore });
      }),
      RUNS,
    );
  });

  test.each(DIRECTIONS)('the status needs no annotation from %s to %s', (from, to) => {
    const objects = objectsOf(own.kind, apiVersionOf(from), own[from], { others: OTHERS });
    fc.assert(
      fc.property(objects, ({ spec: _spec, ...object }) => {
        const there = convertObject(object, parts, from, to);
        expect(there['metadata']).toEqual(object['metadata']);
      }),
      RUNS,
    );
  });
});
