// Both ways from an etcd into an S3: ours, and what etcd's documentation and rclone's tell to do.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MALLOC } from '../../../knative/tools/images/function-image.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { BUCKET, KEYS, type S3Server } from '../../integration/etcd-backup/s3-server.ts';
import type { EtcdCluster } from '../../integration/etcd/cluster.ts';
import { buildGoPeer } from '../go-peer.ts';
import type { Sample } from '../runner.ts';
import { type Watched, watched } from '../watched.ts';

export interface World {
  readonly etcd: EtcdCluster;
  readonly s3: S3Server;
  /** The path of the function's program. */
  readonly bundle: string;
  /** Whether a member is asked for its hash of all keys. */
  readonly isConfirmed: boolean;
}

/** Each run has its own: the storage keeps what it knows of an object whose file is deleted. */
let runs = 0;
const nextName = (): string => {
  runs += 1;
  return `etcd-${runs}.db`;
};

/** It is checked as well: by its own hash, by that of all keys up to 2 GiB, and in the storage. */
export async function backUp({ etcd, s3, bundle, isConfirmed }: World): Promise<Sample> {
  const { url } = etcd.placeOf(0).endpoint;
  const name = nextName();
  const storage = ['--s3-endpoint', s3.url, '--s3-cacert', s3.caPath, '--spool', etcd.plane.dir];
  const to = `s3://${BUCKET}/${name}`;
  const args = [bundle, '--etcd', url, '--to', to, ...storage];
  const done = await watched(process.execPath, args, {
    ...MALLOC,
    AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
  });
  refuse(done);
  if (!done.output.includes(`"isHashConfirmed":${isConfirmed}`)) throw new Error(done.output);
  const objects = join(etcd.plane.dir, 's3/objects', BUCKET);
  for (const one of [name, `${name}.json`]) await rm(join(objects, one));
  return { seconds: done.tookMs / 1e3, memory: done.memoryMb };
}

export async function saveAndUpload({ etcd, s3 }: World): Promise<Sample> {
  const [etcdctl, rclone] = [await resolvePart('etcdctl'), await buildGoPeer('rclone')];
  const { url } = etcd.placeOf(0).endpoint;
  const name = nextName();
  const file = join(etcd.plane.dir, name);
  const saved = await watched(etcdctl, ['--endpoints', url, 'snapshot', 'save', file]);
  refuse(saved);
  const to = `:s3:${BUCKET}/${name}`;
  const sent = await watched(rclone, ['copyto', file, to, '--ca-cert', s3.caPath], {
    RCLONE_CONFIG: '',
    // Else it waits for ever where the bucket is to be made, which is there.
    RCLONE_S3_NO_CHECK_BUCKET: 'true',
    RCLONE_S3_PROVIDER: 'Other',
    RCLONE_S3_ENDPOINT: s3.url,
    RCLONE_S3_ACCESS_KEY_ID: KEYS.accessKeyId,
    RCLONE_S3_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
  });
  refuse(sent);
  await rm(file);
  await rm(join(etcd.plane.dir, 's3/objects', BUCKET, name));
  const memory = Math.max(saved.memoryMb, sent.memoryMb);
  return { seconds: (saved.tookMs + sent.tookMs) / 1e3, memory };
}

function refuse({ exitCode, output }: Watched): void {
  if (exitCode !== 0) throw new Error(`It ended with exit code ${exitCode}: ${output}`);
}
