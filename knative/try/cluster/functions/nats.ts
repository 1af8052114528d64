// The NATS of a cluster of our own making: that of knative/nats, which our own function looks
// after, at the address that the functions' settings name. Its servers run images that we build.
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { Manifest } from '../../../../shared/kube/objects.ts';
import { programSpec } from '../../../tools/images/program.ts';
import { partEntry } from '../../local/parts/catalog.ts';
import { resolvePart } from '../../local/parts/resolve.ts';
import { partsSettings } from '../../local/parts/settings.ts';
import { cachedArchive } from '../knative/cached-archive.ts';

const VERSION = partEntry('nats-server').version.slice(1);

/** Kubernetes looks here for an image without a host. */
export const publicImage = (image: string): string => `docker.io/library/${image}`;

/**
 * The default image of a NatsCluster, and the same by another name, so that a test can change it.
 */
const IMAGES = [publicImage(`nats:${VERSION}`), `dev.local/ballast/nats-server:${VERSION}`];

/** The archives that a node imports. */
export async function natsArchives(signal: AbortSignal): Promise<readonly string[]> {
  const settings = partsSettings();
  const binary = await resolvePart('nats-server', { settings, signal });
  return Promise.all(
    IMAGES.map(async (image) => cachedArchive(await programSpec({ image, binary }), settings)),
  );
}

const SHIPPED = new URL('../../../nats/nats-cluster.yaml', import.meta.url);

/** With claims that three nodes on one machine have room for. */
export async function natsCluster(): Promise<Manifest> {
  // Ours: a test has it applied strictly.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const shipped = parse(await readFile(SHIPPED, 'utf8')) as Manifest & { readonly spec: object };
  return { ...shipped, spec: { ...shipped.spec, jetStream: { fileStorage: { size: '1Gi' } } } };
}
