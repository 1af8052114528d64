// Which fields an object has lost when it comes back from another version.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lossOf, missingIn } from '../../../functions/storage-migration/round-trip.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';
import { crd, type CrdChanges, target } from './samples.ts';

const parts = [{ a: 1, b: 2 }, { a: 3 }];

test.each<[string, object, object, readonly string[]]>([
  ['a field', { spec: { a: 1, b: 2 } }, { spec: { b: 2 } }, ['.spec.a']],
  ['a part of it', { spec: { a: { b: 1, c: 2 } } }, { spec: { a: { c: 2 } } }, ['.spec.a.b']],
  [
    'a field of the first item',
    { spec: { parts } },
    { spec: { parts: [{ a: 1 }, { a: 3 }] } },
    ['.spec.parts[].b'],
  ],
  ['an item', { spec: { parts } }, { spec: { parts: [{ a: 1, b: 2 }] } }, ['.spec.parts[]']],
  ['all of it', { spec: { a: 1 } }, {}, ['.spec']],
  ['what became a text', { spec: { a: { b: 1 } } }, { spec: { a: 'x' } }, ['.spec.a.b']],
  ['nothing: other values', { spec: { a: 1 } }, { spec: { a: 2 } }, []],
  ['nothing: more than before', { spec: { a: 1 } }, { spec: { a: 1, b: 2 }, status: {} }, []],
  ['nothing: what was empty', { spec: { a: {}, b: [], c: '', d: null }, status: {} }, {}, []],
  [
    'a label, an annotation',
    { metadata: { labels: { a: 'x', b: 'y' }, annotations: { 'c.d/e': 'z' } } },
    { metadata: { labels: { b: 'y' } } },
    ['.metadata.labels.a', '.metadata.annotations'],
  ],
  ['nothing: metadata', { metadata: { name: 'a' }, kind: 'A', apiVersion: 'a' }, {}, []],
  ['a false, a zero', { spec: { a: false, b: 0 } }, { spec: {} }, ['.spec.a', '.spec.b']],
])('%s', (_, before, after, lost) => {
  expect(missingIn(before, after)).toEqual(lost);
});

test('nothing of any object that comes back as it was', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
      expect(missingIn(object, structuredClone(object))).toEqual([]);
    }),
  );
});

const widget = (resourceVersion: string, spec: object): KubeObject => ({
  apiVersion: 'example.com/v1alpha1',
  kind: 'Widget',
  metadata: { name: 'w', uid: 'u1', resourceVersion },
  spec,
});

interface World {
  readonly hasWebhook?: boolean;
  readonly changes?: CrdChanges;
  readonly acceptedLoss?: readonly string[];
  /** The object by now, in the old version. */
  readonly found?: KubeObject | null;
}

/** Checks an object that loses `spec.a` on its way; with the versions in which it was read. */
async function checked({ hasWebhook = true, changes = {}, acceptedLoss = [], ...world }: World) {
  const { found = widget('1', { a: 1, b: 2 }) } = world;
  const versions: string[] = [];
  const kube = {
    get: async () => found,
    apply: async ({ version }: ResourceRef, _: unknown, { dryRun }: { dryRun: boolean }) => {
      versions.push(`${version} ${dryRun ? 'dryly' : 'for good'}`);
      return widget('1', { b: 2 });
    },
  } as unknown as KubeClient;
  const of = { ...target(changes), crd: { ...crd(changes), hasWebhook } };
  const { signal } = new AbortController();
  const loss = await lossOf({ kube, target: of, acceptedLoss, signal }, widget('1', {}));
  return { reason: loss?.reason, message: loss?.message, versions };
}

const LOSS = {
  reason: 'FieldsWouldBeLost',
  message: expect.stringMatching(
    /^It does not come back whole: .* v1 of v1alpha1, .* without .*a[.]/,
  ),
  versions: ['v1alpha1 dryly'],
};
const NO_LOSS = { reason: undefined, message: undefined };
const BOTH_OLD = { versions: ['v1alpha1', 'v1beta1', 'v1'] };

test.each<[title: string, world: World, answer: object]>([
  ['is told, with what it loses', {}, LOSS],
  ['loses what may go', { acceptedLoss: ['.spec.a'] }, { ...NO_LOSS, versions: LOSS.versions }],
  ['may lose everything, so nobody is asked', { acceptedLoss: ['.*'] }, { versions: [] }],
  ['is converted by nobody', { hasWebhook: false }, { ...NO_LOSS, versions: [] }],
  ['is another one by now', { found: widget('2', { a: 1 }) }, { ...NO_LOSS, versions: [] }],
  ['is gone', { found: null }, { ...NO_LOSS, versions: [] }],
  ['is never stored in the other old version', { changes: BOTH_OLD }, LOSS],
  [
    'is asked about in each that it may be stored in',
    {
      acceptedLoss: ['.spec.a'],
      changes: { ...BOTH_OLD, storedVersions: BOTH_OLD.versions },
    },
    { ...NO_LOSS, versions: ['v1alpha1 dryly', 'v1beta1 dryly'] },
  ],
])('an object %s', async (_what, world, answer) => {
  expect(await checked(world)).toMatchObject(answer);
});
