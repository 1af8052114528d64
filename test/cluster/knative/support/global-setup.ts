// The cluster of the rung, with Knative and our functions. One node is enough: how Knative spreads
// pods over nodes is not ours to test, and each node more has to unpack all of Knative's images.
import type { TestProject } from 'vitest/node';
import { stages } from '../../../../knative/try/cluster/stages.ts';
import { provideCluster } from '../../support/provide-cluster.ts';
import { echoArchive } from './echo-image.ts';

export const setup = (project: TestProject): Promise<() => Promise<void>> =>
  provideCluster(project, {
    nodes: 1,
    stages,
    prepare: async (cluster) => cluster.importImage(await echoArchive()),
  });
