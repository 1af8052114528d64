// The parts of every place with real pods: the nodes of the rung, a client of the tests, kubectl,
// and kubeconfigs of the functions' own accounts, in a directory that goes with them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReachedCluster } from '../../../knative/try/cluster/reached-cluster.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { accountsOf } from './accounts.ts';
import { Kubectl } from './kubectl.ts';
import { providedCluster } from './provided-cluster.ts';

export interface PodPlaceParts {
  readonly nodes: ReachedCluster;
  readonly kube: KubeClient;
  readonly kubectl: Kubectl;
  /** With the rights that the function's manifests give to its account. */
  kubeconfigOf(account: { readonly namespace: string; readonly name: string }): Promise<string>;
  close(): Promise<void>;
}

export async function openPodPlaceParts(): Promise<PodPlaceParts> {
  const nodes = await providedCluster();
  const dir = await mkdtemp(join(tmpdir(), 'ballast-pods-'));
  try {
    const { kubeconfigPath } = nodes;
    const kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
    const kubectl = await Kubectl.at(kubeconfigPath, dir);
    const accounts = await accountsOf(kube, kubectl, dir);
    return {
      nodes,
      kube,
      kubectl,
      kubeconfigOf: (account) => accounts.kubeconfigFor(`function/${account.name}`, account),
      close: async () => {
        accounts.close();
        await kube.close();
        await rm(dir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    throw error;
  }
}
