// The report of fields that would be lost when there are more objects than a request has time for:
// pages are put in by hand, and time is over after the first.
import { expect, test } from 'vitest';
import { lossOfFields } from '../../../functions/storage-migration/field-loss.ts';
import type { Target } from '../../../functions/storage-migration/observe.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { crd, migration, target } from './samples.ts';

const SCHEMAS: Readonly<Record<string, readonly string[]>> = {
  v1alpha1: ['size', 'legacy'],
  v1: ['size'],
};

function poorer(): Target {
  const before = crd();
  const versions = before.versions.map((version) => {
    const properties = Object.fromEntries((SCHEMAS[version.name] ?? []).map((one) => [one, {}]));
    return { ...version, schema: { openAPIV3Schema: { properties: { spec: { properties } } } } };
  });
  return { ...target(), crd: { ...before, versions } };
}

const widget = (spec: object): KubeObject => ({
  apiVersion: 'example.com/v1alpha1',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'web', uid: 'u1', resourceVersion: '1' },
  spec,
});

async function said(pages: readonly (readonly object[])[], acceptedLoss: readonly string[] = []) {
  const kube = {
    pages: async function* () {
      for (const [index, specs] of pages.entries()) {
        const isLast = index === pages.length - 1;
        const metadata = { resourceVersion: '9', ...(isLast ? {} : { continue: 'more' }) };
        yield { metadata, items: specs.map((spec) => widget(spec)) };
      }
    },
  } as unknown as KubeClient;
  const { signal } = new AbortController();
  const scan = { kube, target: poorer(), isTimeOver: () => true, signal };
  return lossOfFields(scan, migration({ spec: { acceptedLoss } }));
}

const [PLAIN, RICH] = [{ size: 1 }, { size: 1, legacy: 'kept' }];

test.each<[string, Parameters<typeof said>, string | undefined, string]>([
  ['all of them, and none has any', [[[PLAIN, PLAIN]]], undefined, ''],
  [
    'all of them, and some have',
    [[[PLAIN, RICH]]],
    'FieldsWouldBeLost',
    '1 objects, such as web/w, would lose .spec.legacy',
  ],
  [
    'the first, and some have',
    [[[RICH, RICH], [PLAIN]]],
    'FieldsWouldBeLost',
    'At least 2 objects, such as web/w, would lose .spec.legacy',
  ],
  [
    'the first, and none has any',
    [[[PLAIN, PLAIN], [RICH]]],
    'FieldsUnchecked',
    'The first 2 have not; there was no time to look at the rest.',
  ],
  ['none, since the loss is accepted', [[[RICH], [RICH]], ['.spec.legacy']], undefined, ''],
])('it looked at %s', async (_what, given, reason, words) => {
  const word = await said(...given);
  expect(word?.reason).toBe(reason);
  expect(word?.message ?? '').toContain(words);
});
