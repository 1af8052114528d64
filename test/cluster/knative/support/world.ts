// The cluster of the rung, and a namespace on it for one test file.
import { gatewaysIn } from '../../../../knative/try/cluster/knative/knative-settings.ts';
import type { Manifest } from '../../../../shared/kube/objects.ts';
import { openKube } from '../../../../shared/kube/client.ts';
import { providedCluster } from '../../support/provided-cluster.ts';
import { Rig } from './rig.ts';

export interface KnativeWorld {
  readonly rig: Rig;
  readonly kubeconfigPath: string;
  close(): Promise<void>;
}

/**
 * One for each test file. They are there before our functions: each namespace that comes later has
 * Knative replace the adapters of all sources.
 */
export const NAMESPACES = {
  churn: 'churn',
  etcd: 'etcd',
  eventing: 'eventing-test',
  migrating: 'migrating',
  monitoring: 'monitoring',
  strangers: 'strangers',
} as const;

/** The first pods start, and what they are for is ready within rig.ts' bound. */
export const OPEN_WITHIN_MS = 240_000;

export async function openWorld(namespace: string): Promise<KnativeWorld> {
  const { kubeconfigPath, addresses } = await providedCluster();
  const user = 'ballast-test';
  const kube = openKube({ kubeconfigPath, userAgent: user, fieldManager: user });
  const close = (): Promise<void> => kube.close();
  try {
    const rig = new Rig(kube, namespace, gatewaysIn(addresses.serviceCidr));
    await rig.apply(namespaceNamed(namespace));
    return { rig, kubeconfigPath, close };
  } catch (error) {
    await close();
    throw error;
  }
}

export const namespaceNamed = (name: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
});
