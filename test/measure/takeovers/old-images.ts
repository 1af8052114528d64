// Images that a takeover needs beside those that a cluster of ours has, under the names that pods
// have: servers that dead operators left, and members that join such.
import { etcdImage } from '../../../knative/try/cluster/functions/etcd.ts';
import { publicImage } from '../../../knative/try/cluster/functions/nats.ts';
import { cachedArchive } from '../../../knative/try/cluster/knative/cached-archive.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { partsSettings } from '../../../knative/try/local/parts/settings.ts';
import { programSpec } from '../../../knative/tools/images/program.ts';

const PROGRAMS = [
  {
    image: 'quay.io/coreos/etcd:v3.3.27',
    part: 'etcd-3-3',
    name: 'etcd',
    directory: '/usr/local/bin',
  },
  {
    image: etcdImage('etcd-previous'),
    part: 'etcd-previous',
    name: 'etcd',
    directory: '/usr/local/bin',
  },
  {
    image: publicImage('nats:2.1.9'),
    part: 'nats-server-2-1',
    name: 'nats-server',
    directory: '/usr/bin',
  },
] as const;

/** The paths of their archives. */
export async function oldArchives(): Promise<readonly string[]> {
  const settings = partsSettings();
  const archives: string[] = [];
  for (const { part, ...program } of PROGRAMS) {
    const binary = await resolvePart(part, { settings });
    archives.push(await cachedArchive(await programSpec({ ...program, binary }), settings));
  }
  return archives;
}
