// Knative as a stage of a cluster: its images onto the nodes, its manifests onto the API server.
import { openKube } from '../../../../shared/kube/client.ts';
import { inParallel } from '../../local/cluster/in-parallel.ts';
import { partsSettings } from '../../local/parts/settings.ts';
import type { Stage } from '../stage.ts';
import type { Cluster } from '../start-cluster.ts';
import { componentArchives } from './component-archives.ts';
import { installKnative } from './install.ts';
import { gatewaysIn } from './knative-settings.ts';
import { moduleConfig } from './module-config.ts';
import { renderKnative } from './render.ts';

/** An import is hashing, then writing: two keep two cores and the disk busy. */
const IMPORTS_AT_ONCE = 2;

export const knativeStage: Stage = {
  name: 'Knative',
  async run(cluster, { onReady, signal }) {
    const images = importImages(cluster, signal);
    await Promise.all([images, install(cluster, images, onReady, signal)]);
  },
};

async function importImages(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const archives = await componentArchives(signal);
  await inParallel(archives, IMPORTS_AT_ONCE, async (archive) => {
    signal.throwIfAborted();
    await cluster.importImage(archive);
  });
}

async function install(
  { kubeconfigPath, addresses }: Cluster,
  images: Promise<void>,
  onReady: (readyName: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const objects = await moduleConfig(partsSettings(), signal);
  const manifests = renderKnative(objects, gatewaysIn(addresses.serviceCidr));
  const kube = openKube({
    kubeconfigPath,
    userAgent: 'ballast-cluster',
    fieldManager: 'ballast-cluster',
  });
  try {
    await installKnative(kube, { manifests, images, onReady, signal });
  } finally {
    await kube.close();
  }
}
