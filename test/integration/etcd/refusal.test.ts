// The last words of real etcds of each version whose files were damaged, cut as the kubelet cuts
// them: they are known as a refusal of the data, and other troubles are not.
import { execFile } from 'node:child_process';
import { open, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refusalIn } from '../../../functions/etcd-cluster/refusal.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { logOf, spoilFile, spoilLog } from '../../builders/spoil-file.ts';
import { EtcdCluster } from './cluster.ts';

const run = promisify(execFile);

const KEYS = 40;
/** One that ends does so within half a second. */
const ENDS_WITHIN_MS = 60_000;
const LAST_WORDS_BYTES = 2_048;

const databaseOf = (member: string): string => join(member, 'snap/db');

/** The two pages at the start of a database, one of which is the newer. */
async function spoilHead(path: string): Promise<void> {
  const file = await open(path, 'r+');
  for (const at of [0, 4_096]) await file.write(Buffer.alloc(64, 0xff), 0, 64, at + 16);
  await file.close();
}

/** Its last third: the rest is read, and was confirmed to the others. */
async function shorten(path: string): Promise<void> {
  const file = await open(path, 'r+');
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1_000_000), 0, 1_000_000, 0);
  await file.close();
  const end = buffer.subarray(0, bytesRead).findLastIndex((byte) => byte !== 0);
  await truncate(path, Math.floor((end * 2) / 3));
}

const DAMAGES: readonly (readonly [
  what: string,
  damage: (member: string) => Promise<void>,
  why: string,
])[] = [
  ['log spoiled', async (at) => spoilLog(await logOf(at)), 'its log on the disk is damaged'],
  [
    'log spoiled from the head of a record on',
    async (at) => spoilLog(await logOf(at), 'first'),
    'its log on the disk is damaged',
  ],
  [
    'log shortened',
    async (at) => shorten(await logOf(at)),
    'its log on the disk lacks entries that it had confirmed',
  ],
  ['database spoiled', (at) => spoilFile(databaseOf(at)), 'its database is damaged'],
  ['head of its database spoiled', (at) => spoilHead(databaseOf(at)), 'its database is damaged'],
  ['database cut short', (at) => truncate(databaseOf(at), 3_000), 'its database is damaged'],
  ['database gone', (at) => rm(databaseOf(at)), 'its database lacks what its log goes on from'],
  ['volume empty', (at) => rm(at, { recursive: true }), 'its volume is empty'],
  ['log gone', (at) => rm(join(at, 'wal'), { recursive: true }), 'its volume is empty'],
];

describe.each(['etcd-previous', 'etcd', 'etcd-next'] as const)('%s', (part) => {
  let cluster: EtcdCluster;
  /** A leader would start with a log cut short: whoever leads next sends it the rest. */
  let follower: number;
  const dir = () => join(cluster.plane.dir, cluster.placeOf(follower).name);

  beforeAll(async () => {
    cluster = await EtcdCluster.start(3, { part, flags: ['--snapshot-count=10'] });
    for (let key = 0; key < KEYS; key += 1) {
      await cluster.admin().keys.put(`key-${key}`, 'x'.repeat(1_000));
    }
    follower = ((await cluster.leader()) + 1) % 3;
    await cluster.part(follower).kill();
    await copy(dir(), `${dir()}-good`);
  });

  afterAll(async () => {
    await cluster?.stop();
  });

  /** With holes where nothing is written: a log is made long before it is full. */
  async function copy(from: string, to: string): Promise<void> {
    await rm(to, { recursive: true, force: true });
    await run('cp', ['-a', '--sparse=always', from, to]);
  }

  /** As an EtcdPeer starts it, which is told of itself alone. */
  async function startOnce(more: readonly string[] = []) {
    const { name, endpoint, peerUrl } = cluster.placeOf(follower);
    const { url } = endpoint;
    const args = [
      `--name=${name}`,
      `--data-dir=${dir()}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=${name}=${peerUrl}`,
      '--initial-cluster-state=existing',
      ...more,
    ];
    const ended = await run(await resolvePart(part), args, { timeout: ENDS_WITHIN_MS }).catch(
      (error: unknown) => error,
    );
    const { code, stdout, stderr } = Object(ended) as Record<string, unknown>;
    const log = Buffer.from(`${String(stdout)}${String(stderr)}`);
    const lastWords = log.subarray(-LAST_WORDS_BYTES).toString();
    return { restarts: 3, exitCode: Number(code), isUp: false, lastWords };
  }

  test.each(DAMAGES)('%s', async (_, damage, why) => {
    await copy(`${dir()}-good`, dir());
    await damage(join(dir(), 'member'));
    const crash = await startOnce();
    expect({ ...crash, why: refusalIn(crash) }).toEqual({ ...crash, why });
  });

  test('a flag that it does not know is no refusal', async () => {
    await copy(`${dir()}-good`, dir());
    const crash = await startOnce(['--no-such-flag']);
    expect(crash.exitCode).toBeGreaterThan(0);
    expect(refusalIn(crash)).toBeUndefined();
  });
});
