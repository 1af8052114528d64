// The cluster of the rung, with Knative and our functions. One node is enough: how Knative spreads
// pods over nodes is not ours to test, and each node more has to unpack all of Knative's images.
import type { TestProject } from 'vitest/node';
import type { Stage } from '../../../../knative/try/cluster/stage.ts';
import { knativeStages } from '../../../../knative/try/cluster/knative-stages.ts';
import { applyObjects } from '../../../../knative/try/local/cluster/apply-objects.ts';
import { openKube } from '../../../../shared/kube/client.ts';
import { provideCluster } from '../../support/provide-cluster.ts';
import { echoArchive } from './echo-image.ts';
import { namespaceNamed, NAMESPACES } from './world.ts';

const namespacesStage: Stage = {
  name: 'namespaces of the tests',
  async run({ kubeconfigPath }, { signal }) {
    const user = 'ballast-test';
    const kube = openKube({ kubeconfigPath, userAgent: user, fieldManager: user });
    try {
      const file = 'the tests';
      const objects = Object.values(NAMESPACES).map((name) => ({
        file,
        object: namespaceNamed(name),
      }));
      await applyObjects(kube, objects, { signal });
    } finally {
      await kube.close();
    }
  },
};

/**
 * The default of kubelets. Nothing here waits for a changed Secret to be seen in a pod that runs,
 * and to look after it each two seconds in all these pods costs more than all else at rest.
 */
const KUBELET = { syncFrequency: '1m' };

export const setup = (project: TestProject): Promise<() => Promise<void>> =>
  provideCluster(project, {
    nodes: 1,
    kubelet: KUBELET,
    stages: [namespacesStage, ...knativeStages],
    prepare: async (cluster) => cluster.importImage(await echoArchive()),
  });
