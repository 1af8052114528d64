// The objects of these tests: ConfigMaps, and a kind of their own whose spec takes unknown fields.

import { afterAll, beforeAll } from 'vitest';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import type { KubeObject, Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';

export const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
export const things = { group: 'test.ballast.dev', version: 'v1', resource: 'things' };
export const namespace = 'default';

export const openTestKube = (
  plane: PlaneAddress,
  kubeconfigPath = plane.kubeconfigPath,
): KubeClient => openKube({ userAgent: 'test', fieldManager: 'test', kubeconfigPath });

/** The plane of the lane, and its admin for all tests of a file. */
export function withSharedPlane(
  use: (plane: PlaneAddress, admin: KubeClient) => Promise<unknown> | undefined,
): void {
  let admin: KubeClient | undefined;
  beforeAll(async () => {
    const plane = sharedPlane();
    admin = openTestKube(plane);
    await use(plane, admin);
  });
  afterAll(async () => {
    await admin?.close();
  });
}

const condition = {
  type: 'object',
  required: ['type'],
  properties: Object.fromEntries(
    ['type', 'status', 'reason', 'message', 'lastTransitionTime'].map((name) => [
      name,
      { type: 'string' },
    ]),
  ),
};
export const thingsCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.test.ballast.dev' },
  spec: {
    group: 'test.ballast.dev',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              status: {
                type: 'object',
                properties: {
                  conditions: {
                    type: 'array',
                    items: condition,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                  },
                  phase: { type: 'string' },
                  progress: {
                    type: 'object',
                    required: ['done'],
                    properties: { done: { type: 'integer' }, note: { type: 'string' } },
                  },
                  backup: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
            },
          },
        },
      },
    ],
  },
};

export const thing = (name: string, spec: object = {}): Manifest => ({
  apiVersion: 'test.ballast.dev/v1',
  kind: 'Thing',
  metadata: { name, namespace },
  spec,
});
export const configMap = (name: string, data: Record<string, string> = {}): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
});

export async function read(kube: KubeClient, ref: ResourceRef, name: string): Promise<KubeObject> {
  const object = await kube.get(ref, { namespace, name });
  if (object === null) throw new Error(`${name} is not there`);
  return object;
}
