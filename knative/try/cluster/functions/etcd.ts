// The images of etcd on the nodes of a cluster of our own making, by the names that they have
// everywhere: the one that an EtcdCluster of three lines runs, and the next minor version, so that
// an upgrade can be tried.
import { programFiles, programSpec } from '../../../tools/images/program.ts';
import { partEntry } from '../../local/parts/catalog.ts';
import type { PartName } from '../../local/parts/part-entry.ts';
import { resolvePart } from '../../local/parts/resolve.ts';
import { partsSettings } from '../../local/parts/settings.ts';
import { cachedArchive } from '../knative/cached-archive.ts';

/** Each etcd with its own etcdutl. */
const PARTS = { etcd: 'etcdutl', 'etcd-next': 'etcdutl-next' } as const;
/** As in the images of its project: pods name the programs. */
const DIRECTORY = '/usr/local/bin';

export const etcdImage = (part: PartName): string =>
  `quay.io/coreos/etcd:${partEntry(part).version}`;

/** The archives that a node imports. */
export async function etcdArchives(signal?: AbortSignal): Promise<readonly string[]> {
  const settings = partsSettings();
  const resolving = signal === undefined ? { settings } : { settings, signal };
  const archives: string[] = [];
  for (const part of ['etcd', 'etcd-next'] as const) {
    const binary = await resolvePart(part, resolving);
    const program = { image: etcdImage(part), binary, name: 'etcd', directory: DIRECTORY };
    const spec = await programSpec(program);
    const tool = await resolvePart(PARTS[part], resolving);
    const etcdutl = await programFiles(tool, 'etcdutl', DIRECTORY);
    archives.push(await cachedArchive({ ...spec, files: [...spec.files, ...etcdutl] }, settings));
  }
  return archives;
}
