// A definition as API servers store it, in which parts stand once for all versions.
import { expect, test } from 'vitest';
import { storedCrdOf } from '../../../../functions/storage-audit/against/stored-crd.ts';

const schema = { openAPIV3Schema: { type: 'object', description: 'common' } };
const own = { openAPIV3Schema: { type: 'object', description: 'own' } };
const stored = (spec: object) =>
  storedCrdOf({
    apiVersion: 'apiextensions.k8s.io/v1beta1',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      ...spec,
    },
    status: { storedVersions: ['v1alpha1'] },
  });
const versions = [
  { name: 'v1alpha1', served: true, storage: false },
  { name: 'v1', served: true, storage: true },
];

test('one schema stands for all versions, and one that a version has is its own', () => {
  const common = stored({ versions, validation: schema, preserveUnknownFields: false });
  expect(common.versions.map((one) => one.schema?.['description'])).toEqual(['common', 'common']);
  expect(common.spec['preserveUnknownFields']).toBeUndefined();
  const each = stored({ versions: versions.map((one) => ({ ...one, schema: own })) });
  expect(each.versions.map((one) => one.schema?.['description'])).toEqual(['own', 'own']);
});

test('before v1 unknown fields were kept unless somebody said so', () => {
  expect(stored({ versions }).spec['preserveUnknownFields']).toBe(true);
});

test('a single version may stand beside the list', () => {
  const { versions: found, storedVersions } = stored({ version: 'v1alpha1', validation: schema });
  expect(found).toEqual([
    { name: 'v1alpha1', served: true, storage: true, schema: schema.openAPIV3Schema },
  ]);
  expect(storedVersions).toEqual(['v1alpha1']);
});

test('the webhook is found under the names that it has there', () => {
  const service = { namespace: 'web', name: 'hook' };
  const webhookClientConfig = { service, caBundle: 'Q0E=' };
  const { conversion } = stored({
    versions,
    conversion: { strategy: 'Webhook', webhookClientConfig },
  });
  expect(conversion).toEqual({ isWebhook: true, service, hasAuthority: true });
});
