// The directories by which clusters are found: whatever somebody left in one, it keeps nobody from
// another cluster, and it goes.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { addressesIn } from '../../../knative/try/cluster/addresses.ts';
import { cleanUpLeftovers } from '../../../knative/try/cluster/clean-up.ts';
import { findClusters } from '../../../knative/try/cluster/cluster-directory.ts';
import { endCluster, showLogs, showStatus } from '../../../knative/try/cluster/running.ts';
import { startTimeTicks } from '../../../knative/try/local/process/proc.ts';
import { userId } from '../../../knative/try/local/process/user-id.ts';

const SUBNET = '10.198.0.0/16';
const record = JSON.stringify({ addresses: addressesIn(SUBNET), nodes: 1 });
const unreadable = [
  ['without a record, since its starter was killed that early', undefined],
  ['whose record is empty, since the disk was full', ''],
  ['whose record is half there', record.slice(0, 20)],
  ['whose record is of another version', '{"subnet":"10.198.0.0/16"}'],
] as const;

let scratch = '';
let starter: ChildProcess | undefined;

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'ballast-directories-'));
  vi.stubEnv('TMPDIR', scratch);
});
afterEach(() => {
  starter?.kill('SIGKILL');
  starter = undefined;
  vi.unstubAllEnvs();
  rmSync(scratch, { recursive: true, force: true });
});

const root = (): string => join(scratch, `ballast-${userId()}`);

async function clusterOf(pid: number, text: string | undefined): Promise<void> {
  const dir = join(root(), `cluster-${pid}-abc123`);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'owner'), `${pid} ${(await startTimeTicks(pid)) ?? 1}`);
  if (text !== undefined) writeFileSync(join(dir, 'cluster.json'), text);
}

test.each(unreadable)('a dead cluster %s is taken away by the next start', async (_case, text) => {
  await clusterOf(spawnSync('true').pid, text);
  const troubles: string[] = [];
  await cleanUpLeftovers((trouble) => troubles.push(trouble));
  expect(troubles).toEqual([]);
  expect(readdirSync(root())).toEqual([]);
});

test.each(unreadable)('a living one %s is left alone and hides no other', async (_case, text) => {
  await clusterOf(process.pid, text);
  starter = spawn('sleep', ['60']);
  await clusterOf(starter.pid ?? 0, record);
  await cleanUpLeftovers(() => undefined);
  expect(readdirSync(root())).toHaveLength(2);
  expect(await findClusters()).toMatchObject([{ starterPid: starter.pid, isAlive: true }]);
});

test('down cleans up after a starter that is told to end and just dies', async () => {
  starter = spawn('sleep', ['60']);
  await clusterOf(starter.pid ?? 0, record);
  const said: string[] = [];
  await endCluster(SUBNET, (text) => said.push(text));
  expect(said).toEqual([`The cluster at ${SUBNET} is gone.`]);
  expect(readdirSync(root())).toEqual([]);
});

test('status and logs of a cluster that is still starting say so', async () => {
  await clusterOf(process.pid, record);
  await expect(showStatus(SUBNET, () => undefined)).rejects.toThrow('still starting');
  await expect(showLogs('etcd', SUBNET, () => undefined)).rejects.toThrow('still starting');
});
