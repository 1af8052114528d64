// One cluster for all test files of a rung: up before the first file and gone after the last, since
// each file would wait a minute for one of its own. BALLAST_TEST_CLUSTER names the directory of one
// that is up already, for whoever works on a test.
import type { TestProject } from 'vitest/node';
import { hierarchies, usedSeconds } from '../../../knative/try/cluster/cgroups.ts';
import { cgroupName, findClusters } from '../../../knative/try/cluster/cluster-directory.ts';
import { ReachedCluster } from '../../../knative/try/cluster/reached-cluster.ts';
import type { Stage } from '../../../knative/try/cluster/stage.ts';
import { runStages } from '../../../knative/try/cluster/stages.ts';
import { type Cluster, startCluster } from '../../../knative/try/cluster/start-cluster.ts';
import { note } from '../../ladder/noted.ts';
import { childrenSeconds } from '../../ladder/processor.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly clusterDir: string;
  }
}

interface Wanted {
  readonly nodes: number;
  /** Fields in which the configuration of the kubelets differs. */
  readonly kubelet?: Readonly<Record<string, unknown>>;
  readonly stages: readonly Stage[];
  /** Prepares what no test changes: images, definitions. */
  readonly prepare: (cluster: ReachedCluster) => Promise<void>;
}

/** For the setup of a rung; resolves with what ends the cluster. */
export async function provideCluster(
  { provide }: TestProject,
  { nodes, kubelet = {}, stages, prepare }: Wanted,
): Promise<() => Promise<void>> {
  const { BALLAST_TEST_CLUSTER: dir } = process.env;
  if (dir !== undefined) {
    provide('clusterDir', dir);
    await prepare(await clusterIn(dir));
    return () => Promise.resolve();
  }
  const cluster = await startCluster({ nodes, kubelet });
  try {
    const { signal } = new AbortController();
    await runStages(stages, cluster, { onReady: () => undefined, signal });
    await prepare(cluster);
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  provide('clusterDir', cluster.dir);
  return () => stopAndNote(cluster, stages.length === 0 ? 'cluster' : 'knative');
}

/**
 * Its daemons and pods are killed with their namespaces, and then no parent is told their time. It
 * is told the supervisor's: that one is waited for.
 */
async function stopAndNote(cluster: Cluster, rung: string): Promise<void> {
  const used = await usedSeconds(cgroupName(cluster.dir), await hierarchies());
  const before = childrenSeconds();
  await cluster.stop();
  note({
    file: `daemons and pods of the ${rung} rung's cluster`,
    wallSeconds: performance.now() / 1000,
    cpuSeconds: used - (childrenSeconds() - before),
    isApart: true,
  });
}

export async function clusterIn(dir: string): Promise<ReachedCluster> {
  const found = (await findClusters()).find((cluster) => cluster.dir === dir);
  if (found === undefined) throw new Error(`no cluster runs in ${dir}`);
  return new ReachedCluster(found);
}
