// P17: how long a backup of 1 GB and of 8 GB into an S3 takes, and in how much memory, beside
// `etcdctl snapshot save` and an upload with rclone. Ours is read through, and that of 1 GB is held
// against the member's own hash of all keys; theirs is not. Ours has the environment of its image.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFunction } from '../../knative/tools/build/build.ts';
import { startS3 } from '../integration/etcd-backup/s3-server.ts';
import { startFilledEtcd } from './backup/filled-etcd.ts';
import { backUp, saveAndUpload, type World } from './backup/sides.ts';
import type { Bench, Side } from './runner.ts';

const OURS = 'etcd-backup, 1 GB';
const OURS_LARGE = 'etcd-backup, 8 GB';
const PEER = 'etcdctl and rclone, 1 GB';
const PEER_LARGE = 'etcdctl and rclone, 8 GB';
const BOUND = '128 MB';
const BOUND_MB = 128;
const GB = 1e9;

const time = { unit: 's', better: 'lower', sample: 'seconds', limit: 1.1 } as const;
const memory = { unit: 'MB', better: 'lower', sample: 'memory' } as const;

export const bench: Bench = {
  id: 'P17',
  title: 'a backup into an S3: time, memory',
  pairs: 5,
  figures: [
    { ...time, name: 'time, 1 GB', ours: OURS, against: PEER },
    { ...time, name: 'time, 8 GB', ours: OURS_LARGE, against: PEER_LARGE },
    { ...memory, name: 'memory, 8 GB', ours: OURS_LARGE, against: BOUND, limit: 1 },
    { ...memory, name: 'memory, 8 GB to 1 GB', ours: OURS_LARGE, against: OURS, limit: 1.1 },
    { ...memory, name: 'memory beside it', ours: OURS, against: PEER, limit: Infinity },
  ],
  open: async () => {
    const dir = await mkdtemp(join(tmpdir(), 'p17-'));
    const worlds: World[] = [];
    const close = async (): Promise<void> => {
      for (const { etcd } of worlds) await etcd.stop();
      await rm(dir, { recursive: true, force: true });
    };
    try {
      const built = await buildFunction('etcd-backup', dir);
      const bundle = join(built.dir, 'etcd-backup.mjs');
      const small = await open(worlds, bundle, GB);
      const large = await open(worlds, bundle, 8 * GB);
      const sides: readonly Side[] = [
        { name: OURS, run: () => backUp(small) },
        { name: PEER, run: () => saveAndUpload(small) },
        { name: OURS_LARGE, run: () => backUp(large) },
        { name: PEER_LARGE, run: () => saveAndUpload(large) },
        { name: BOUND, run: async () => ({ memory: BOUND_MB }) },
      ];
      return { sides, close };
    } catch (error) {
      await close();
      throw error;
    }
  },
};

async function open(worlds: World[], bundle: string, sizeBytes: number): Promise<World> {
  const etcd = await startFilledEtcd(sizeBytes);
  try {
    const isConfirmed = sizeBytes === GB;
    const world = { etcd, bundle, s3: await startS3(etcd.plane), isConfirmed };
    worlds.push(world);
    return world;
  } catch (error) {
    await etcd.stop();
    throw error;
  }
}
