// The directory of a cluster: what lies where in it, and the record by which it can be found, and
// cleaned up after, by somebody else than its starter.
import { readFile, writeFile } from 'node:fs/promises';
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

/** No other cluster has one of this name, so it is ours if it is there. */
export const cgroupName = (dir: string): string => `ballast-${basename(dir)}`;

export async function writeRecord(dir: string, record: ClusterRecord): Promise<void> {
  await writeFile(join(dir, RECORD), JSON.stringify(record));
}

/** Undefined before there is one: then nothing but the directory has been made. */
export async function readRecord(dir: string): Promise<ClusterRecord | undefined> {
  const text = await readFile(join(dir, RECORD), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
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
