// The NATS of a cluster of our own making: a NatsCluster, which our own function looks after, at
// the address that the functions' settings name. Its servers run the image that we build.
import type { Manifest } from '../../../shared/kube/objects.ts';
import { programSpec } from '../../images/program.ts';
import { partEntry } from '../../local/parts/catalog.ts';
import { resolvePart } from '../../local/parts/resolve.ts';
import { partsSettings } from '../../local/parts/settings.ts';
import { cachedArchive } from '../knative/cached-archive.ts';

const image = `dev.local/ballast/nats-server:${partEntry('nats-server').version.slice(1)}`;

/** The archive that a node imports. */
export async function natsArchive(signal: AbortSignal): Promise<string> {
  const settings = partsSettings();
  const binary = await resolvePart('nats-server', { settings, signal });
  return cachedArchive(await programSpec({ image, binary }), settings);
}

export const natsCluster: Manifest = {
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'NatsCluster',
  metadata: { namespace: 'ballast-system', name: 'nats' },
  spec: { image, jetStream: { fileStorage: { size: '1Gi' } } },
};
