// Objects of one kind, of which a test says the spec alone, on the plane of its lane.
import { afterAll, beforeAll } from 'vitest';
import { type KubeClient, openKube } from '../../shared/kube/client.ts';
import type { KubeObject, ResourceRef } from '../../shared/kube/objects.ts';
import { sharedPlane } from './shared-plane.ts';

const namespace = 'default';

interface Specs {
  /** Returns the name: one of its own, when none is given. */
  readonly create: (spec: object, name?: string) => Promise<string>;
  readonly edit: (name: string, spec: object) => Promise<KubeObject>;
  /** Its status. */
  readonly say: (name: string, status: object) => Promise<KubeObject>;
  readonly created: (name: string) => Promise<KubeObject | null>;
}

export function specsOnPlane(ref: ResourceRef, kind: string, prefix: string): Specs {
  let kube: KubeClient;
  let count = 0;
  beforeAll(() => {
    const { kubeconfigPath } = sharedPlane();
    kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  });
  afterAll(async () => {
    await kube?.close();
  });
  return {
    create: async (spec, name) => {
      count += 1;
      const metadata = { namespace, name: name ?? `${prefix}-${count}` };
      const apiVersion = 'ballast.dev/v1alpha1';
      await kube.create(ref, { apiVersion, kind, metadata, spec });
      return metadata.name;
    },
    edit: (name, spec) => kube.patch(ref, { namespace, name }, { type: 'merge', body: { spec } }),
    say: (name, status) => {
      const target = { namespace, name, subresource: 'status' } as const;
      return kube.patch(ref, target, { type: 'merge', body: { status } });
    },
    created: (name) => kube.get(ref, { namespace, name }),
  };
}
