// The cluster of the rung, and a namespace on it for one test file.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { controlSocket, findClusters } from '../../../../knative/cluster/cluster-directory.ts';
import { ask } from '../../../../knative/cluster/control.ts';
import { gatewaysIn } from '../../../../knative/cluster/knative/knative-settings.ts';
import type { Cluster } from '../../../../knative/cluster/start-cluster.ts';
import { openKube } from '../../../../shared/kube/client.ts';
import { echoArchive } from './echo-image.ts';
import { Rig } from './rig.ts';

export interface KnativeWorld {
  readonly rig: Rig;
  readonly kubeconfigPath: string;
  close(): Promise<void>;
}

type Usable = Pick<Cluster, 'kubeconfigPath' | 'addresses' | 'importImage'>;

/** Images are unpacked and the first pods start. */
export const OPEN_WITHIN_MS = 180_000;

export async function openWorld(namespace: string): Promise<KnativeWorld> {
  const cluster = await runningCluster(inject('clusterDir'));
  const { kubeconfigPath, addresses } = cluster;
  const user = 'ballast-test';
  const kube = openKube({ kubeconfigPath, userAgent: user, fieldManager: user });
  const close = (): Promise<void> => kube.close();
  try {
    await importEcho(cluster);
    const rig = new Rig(kube, namespace, gatewaysIn(addresses.serviceCidr));
    await rig.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    return { rig, kubeconfigPath, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function runningCluster(dir: string): Promise<Usable> {
  const found = (await findClusters()).find((cluster) => cluster.dir === dir);
  if (found === undefined) throw new Error(`no cluster runs in ${dir}`);
  return {
    addresses: found.addresses,
    kubeconfigPath: join(dir, 'kubeconfig'),
    importImage: (archive) => ask(controlSocket(dir), '/import', { archive }),
  };
}

async function importEcho(cluster: Usable): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'ballast-echo-'));
  try {
    await cluster.importImage(await echoArchive(work));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
