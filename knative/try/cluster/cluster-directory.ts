// The directory of a cluster: what lies where in it, and the record by which it can be found, and
// cleaned up after, by somebody else than its starter.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ownerPid, runDirectories } from '../local/process/run-directory.ts';
import type { Addresses } from './addresses.ts';

export interface ClusterRecord {
  readonly addresses: Addresses;
  readonly nodes: number;
}

export interface FoundCluster extends ClusterRecord {
  readonly dir: string;
  readonly starterPid: number;
  readonly isAlive: boolean;
}

const RECORD = 'cluster.json';

export const kubeconfigPath = (dir: string): string => join(dir, 'kubeconfig');
export const controlSocket = (dir: string): string => join(dir, 'control.sock');
/** Reaches etcd, which nobody but root may: the directory lets nobody else in. */
export const etcdSocket = (dir: string): string => join(dir, 'etcd.sock');

/** No other cluster has one of this name, so it is ours if it is there. */
export const cgroupName = (dir: string): string => `ballast-${basename(dir)}`;

/** Whole or not at all: others look for it at any time. */
export async function writeRecord(dir: string, record: ClusterRecord): Promise<void> {
  const unfinished = join(dir, `${RECORD}.unfinished`);
  await writeFile(unfinished, JSON.stringify(record));
  await rename(unfinished, join(dir, RECORD));
}

/**
 * Undefined before there is one, when nothing but the directory has been made; and for one that a
 * full disk or another version made unreadable, which must not keep anybody from another cluster.
 */
export async function readRecord(dir: string): Promise<ClusterRecord | undefined> {
  const text = await readFile(join(dir, RECORD), 'utf8').catch(() => '');
  try {
    const record: unknown = JSON.parse(text);
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is ClusterRecord {
  if (typeof value !== 'object' || value === null || !('addresses' in value)) return false;
  const { addresses } = value;
  return (
    typeof addresses === 'object' &&
    addresses !== null &&
    ['subnet', 'interfaceName'].every((name) => name in addresses)
  );
}

/** Those that run, and those that somebody left behind. */
export async function findClusters(): Promise<readonly FoundCluster[]> {
  const found = await Promise.all(
    (await runDirectories('cluster')).map(async ({ path, isAlive }) => {
      const record = await readRecord(path);
      const about = { dir: path, starterPid: ownerPid(path), isAlive };
      return record === undefined ? [] : [{ ...record, ...about }];
    }),
  );
  return found.flat();
}

/** Directories of clusters whose starter is gone, also of those that got no further. */
export async function deadClusters(): Promise<readonly string[]> {
  const directories = await runDirectories('cluster');
  return directories.flatMap(({ path, isAlive }) => (isAlive ? [] : [path]));
}
