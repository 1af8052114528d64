// Manifests are applied in one go, a definition and the objects of its kind together: the API
// server needs a moment between the two, and is given it, but not forever.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import type { ClusterObject } from '../../../knative/try/local/manifests/wiring.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';

const namespace = 'default';
const WITHIN_MS = 300;

let kube: KubeClient;

beforeAll(() => {
  const { kubeconfigPath } = sharedPlane();
  kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
});

afterAll(async () => {
  await kube?.close();
});

/** For the kind Thing of a group, which it serves or not. */
function definition(group: string, served: boolean): ClusterObject {
  const schema = { openAPIV3Schema: { type: 'object' } };
  const versions = [
    { name: 'v1', served, storage: true, schema },
    { name: 'v2', served: true, storage: false, schema },
  ];
  return {
    file: 'crds/thing.yaml',
    object: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `things.${group}` },
      spec: { group, scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions },
    },
  };
}

const thing = (group: string): ClusterObject => ({
  file: 'functions/thing.yaml',
  object: { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'one', namespace } },
});

test('an object is applied right behind the definition of its kind', async () => {
  const group = 'quick.example.com';
  await applyObjects(kube, [definition(group, true), thing(group)]);
  const ref = { group, version: 'v1', resource: 'things' };
  expect(await kube.get(ref, { namespace, name: 'one' })).toMatchObject({ kind: 'Thing' });
});

test('a kind that does not come is given up, with what its definition says', async () => {
  const group = 'never.example.com';
  const applied = applyObjects(kube, [definition(group, false), thing(group)], {
    servedWithinMs: WITHIN_MS,
  });
  await expect(applied).rejects.toThrow(
    'functions/thing.yaml: the API server has no never.example.com/v1 Thing, 0.3 s after ' +
      'crds/thing.yaml defined it. things.never.example.com says: NamesAccepted=True (no conflicts',
  );
});

test('a kind that nobody defines is given up at once', async () => {
  const started = applyObjects(kube, [thing('nobody.example.com')]);
  await expect(started).rejects.toThrow(
    /^functions\/thing\.yaml: the API server has no nobody\.example\.com\/v1 Thing$/,
  );
});
