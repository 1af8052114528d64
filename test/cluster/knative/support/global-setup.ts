// The cluster of the rung, with Knative and our functions on three nodes: up before its first file
// and gone after its last, since each file would wait a minute for one of its own.
// BALLAST_TEST_CLUSTER names the directory of one that is up already, for whoever works on a test.
import type { TestProject } from 'vitest/node';
import { runStages, stages } from '../../../../knative/cluster/stages.ts';
import { startCluster } from '../../../../knative/cluster/start-cluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly clusterDir: string;
  }
}

const NODES = 3;

export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const { BALLAST_TEST_CLUSTER: dir } = process.env;
  if (dir !== undefined) {
    provide('clusterDir', dir);
    return () => Promise.resolve();
  }
  const cluster = await startCluster({ nodes: NODES });
  try {
    const { signal } = new AbortController();
    await runStages(stages, cluster, { onReady: () => undefined, signal });
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  provide('clusterDir', cluster.dir);
  return () => cluster.stop();
}
