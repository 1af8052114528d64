// An API server with all that we ship applied to it, and what is asked for beside it.
import { fileURLToPath } from 'node:url';
import { applyObjects } from '../../knative/try/local/cluster/apply-objects.ts';
import { loadWiring } from '../../knative/try/local/manifests/load.ts';
import { type CorePart, type Plane, startPlane } from '../../knative/try/local/plane/plane.ts';
import { type KubeClient, openKube } from '../../shared/kube/client.ts';

export interface Shipped {
  readonly plane: Plane;
  readonly kube: KubeClient;
  stop(): Promise<void>;
}

const wiring = await loadWiring(fileURLToPath(new URL('../../knative', import.meta.url)));
export const SHIPPED = wiring.objects;

export async function startShipped(
  parts: readonly CorePart[] = ['etcd', 'kube-apiserver'],
  apiServerFlags: readonly string[] = [],
): Promise<Shipped> {
  const plane = await startPlane({ parts, apiServerFlags });
  const { kubeconfigPath } = plane;
  const kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  const stop = async (): Promise<void> => {
    await kube.close();
    await plane.stop();
  };
  try {
    await applyObjects(kube, SHIPPED);
    return { plane, kube, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
