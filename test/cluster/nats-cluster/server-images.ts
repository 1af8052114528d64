// The images that servers of NATS run in real pods: two versions, and one whose server ends at
// once.
import { publicImage } from '../../../knative/try/cluster/functions/nats.ts';
import { cachedArchive } from '../../../knative/try/cluster/knative/cached-archive.ts';
import { programSpec } from '../../../knative/tools/images/program.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { partsSettings } from '../../../knative/try/local/parts/settings.ts';
import { NEW_IMAGE, OLD_IMAGE } from '../../integration/nats-cluster/scene.ts';

/** Its server ends at once. */
export const BROKEN_IMAGE = 'nats:2.15.98';

/** The paths of their archives. */
export async function serverArchives(): Promise<readonly string[]> {
  const settings = partsSettings();
  const binaries = [
    [NEW_IMAGE, await resolvePart('nats-server', { settings })],
    [OLD_IMAGE, await resolvePart('nats-server-previous', { settings })],
    [BROKEN_IMAGE, '/bin/false'],
  ] as const;
  const archives: string[] = [];
  for (const [image, binary] of binaries) {
    const spec = await programSpec({ image: publicImage(image), binary, name: 'nats-server' });
    archives.push(await cachedArchive(spec, settings));
  }
  return archives;
}
