// A cluster with Knative for one test file, and a namespace on it. BALLAST_TEST_CLUSTER names the
// directory of one that is up already, for whoever works on a test.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { controlSocket, findClusters } from '../../../../knative/cluster/cluster-directory.ts';
import { ask } from '../../../../knative/cluster/control.ts';
import { gatewaysIn } from '../../../../knative/cluster/knative/knative-settings.ts';
import { runStages, type Stage } from '../../../../knative/cluster/stages.ts';
import { type Cluster, startCluster } from '../../../../knative/cluster/start-cluster.ts';
import { openKube } from '../../../../shared/kube/client.ts';
import { echoArchive } from './echo-image.ts';
import { Rig } from './rig.ts';

export interface KnativeWorld {
  readonly rig: Rig;
  readonly kubeconfigPath: string;
  close(): Promise<void>;
}

type Usable = Pick<Cluster, 'kubeconfigPath' | 'addresses' | 'importImage' | 'stop'>;

export interface WorldOptions {
  readonly nodes: number;
  /** What the test is about; a cluster that is up has all of them. */
  readonly stages: readonly Stage[];
}

/** A minute and a half on an idle machine, images built and imported; several on a busy one. */
export const START_WITHIN_MS = 600_000;

export async function openWorld(namespace: string, options: WorldOptions): Promise<KnativeWorld> {
  const { BALLAST_TEST_CLUSTER: dir } = process.env;
  const cluster = dir === undefined ? await startedCluster(options) : await runningCluster(dir);
  const { kubeconfigPath, addresses } = cluster;
  const user = 'ballast-test';
  const kube = openKube({ kubeconfigPath, userAgent: user, fieldManager: user });
  const close = async (): Promise<void> => {
    await kube.close();
    await cluster.stop();
  };
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

async function startedCluster({ nodes, stages }: WorldOptions): Promise<Usable> {
  const cluster = await startCluster({ nodes });
  try {
    const { signal } = new AbortController();
    await runStages(stages, cluster, { onReady: () => undefined, signal });
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

async function runningCluster(dir: string): Promise<Usable> {
  const found = (await findClusters()).find((cluster) => cluster.dir === dir);
  if (found === undefined) throw new Error(`BALLAST_TEST_CLUSTER: no cluster runs in ${dir}`);
  return {
    addresses: found.addresses,
    kubeconfigPath: join(dir, 'kubeconfig'),
    importImage: (archive) => ask(controlSocket(dir), '/import', { archive }),
    stop: () => Promise.resolve(),
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
