// The cluster of the rung: three bare nodes with the images of its tests, and our definitions.
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { etcdArchives } from '../../../knative/try/cluster/functions/etcd.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { loadWiring } from '../../../knative/try/local/manifests/load.ts';
import type { ReachedCluster } from '../../../knative/try/cluster/reached-cluster.ts';
import { openKube } from '../../../shared/kube/client.ts';
import { serverArchives } from '../nats-cluster/server-images.ts';
import { nodeArchive } from './node-image.ts';
import { provideCluster } from './provide-cluster.ts';

const KNATIVE = fileURLToPath(new URL('../../../knative', import.meta.url));

export const setup = (project: TestProject): Promise<() => Promise<void>> =>
  provideCluster(project, { nodes: 3, stages: [], prepare });

async function prepare(cluster: ReachedCluster): Promise<void> {
  const { kubeconfigPath } = cluster;
  const kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  try {
    await applyObjects(kube, (await loadWiring(KNATIVE)).objects);
    const servers = [...(await serverArchives()), ...(await etcdArchives())];
    for (const archive of [await nodeArchive(), ...servers]) await cluster.importImage(archive);
  } finally {
    await kube.close();
  }
}
