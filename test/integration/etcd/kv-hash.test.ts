// The hash of all keys, read from a snapshot, is the one that the member tells of itself: after
// every kind of write, in the middle of a compaction, and behind a restore, in each version.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import type { EtcdMemberAdmin } from '../../../shared/etcd/admin.ts';
import { openEtcd } from '../../../shared/etcd/client.ts';
import { openSnapshot, type SnapshotFacts } from '../../../shared/etcd/snapshot/snapshot.ts';
import { EtcdWriter } from '../storage-audit/world.ts';
import { EtcdCluster } from './cluster.ts';

const run = promisify(execFile);

async function factsOf(path: string): Promise<SnapshotFacts> {
  const snapshot = openSnapshot(path, { hasKvHash: true });
  for await (const _ of snapshot.entries()) continue;
  return snapshot.facts;
}

/** The file and the member agree; returns where they do. */
async function agreed(member: EtcdMemberAdmin, url: string, path: string): Promise<SnapshotFacts> {
  const etcd = openEtcd({ endpoints: [url] });
  try {
    await etcd.save(path);
  } finally {
    await etcd.close();
  }
  const facts = await factsOf(path);
  const { revision, compactRevision, kvHash } = facts;
  const told = await member.hashKv(`${revision > compactRevision ? revision : compactRevision}`);
  expect({ compactRevision: `${compactRevision}`, hash: kvHash }).toEqual({
    compactRevision: told.compactRevision,
    hash: told.hash,
  });
  return facts;
}

// One record of a compaction at a time, so that a snapshot is taken in the middle of it.
const SLOWLY = {
  'etcd-previous': 'experimental-compaction',
  etcd: 'compaction',
  'etcd-next': 'compaction',
} as const;

describe.each(['etcd-previous', 'etcd', 'etcd-next'] as const)('%s', (part) => {
  let cluster: EtcdCluster;
  let member: EtcdMemberAdmin;
  let writer: EtcdWriter;
  let url: string;
  let file: string;

  beforeAll(async () => {
    const flags = [`--${SLOWLY[part]}-batch-limit=1`, `--${SLOWLY[part]}-sleep-interval=300ms`];
    cluster = await EtcdCluster.start(1, { part, flags });
    member = cluster.at(0);
    ({ url } = cluster.placeOf(0).endpoint);
    writer = new EtcdWriter(url);
    file = join(cluster.plane.dir, 'saved.db');
  });

  afterAll(() => cluster.stop());

  test('agree when nothing was ever written, or nothing is left', async () => {
    expect(await agreed(member, url, file)).toMatchObject({ records: 0 });
    const revision = await writer.put('/gone', 'x');
    await writer.compact(revision);
    const deleted = await writer.delete('/gone');
    expect(await agreed(member, url, file)).toMatchObject({ records: 2, keys: 1 });
    await member.keys.compact(deleted);
    expect(`${(await agreed(member, url, file)).compactRevision}`).toBe(deleted);
  });

  test('agree before a compaction, in the middle of it, and after', async () => {
    for (let round = 0; round < 3; round += 1) {
      for (let key = 0; key < 40; key += 1) await writer.put(`/k/${key}`, `${round} ${key}`);
      await writer.delete(`/k/${round}`);
      // Over several pages of the file.
      await writer.put(`/large/${round % 2}`, Buffer.alloc(300_000, round));
      await writer.putTogether({ '/a': `${round}`, '/b': `${round}` });
    }
    await agreed(member, url, file);
    const { header } = await member.status();
    await member.keys.compact(`${Number(header.revision) - 50}`);
    const { compactRevision, records } = await agreed(member, url, file);
    expect(`${compactRevision}`).toBe(`${Number(header.revision) - 50}`);
    // It had not cleaned up by then.
    expect(records).toBeGreaterThan(100);
    await writer.put('/k/39', 'later');
    await agreed(member, url, file);
  });

  test('agree where the compaction ends at a delete', async () => {
    await writer.put('/last', 'x');
    const revision = await writer.delete('/last');
    await member.keys.compact(revision);
    expect(`${(await agreed(member, url, file)).compactRevision}`).toBe(revision);
  });
});

test('agree behind a restore that bumped the revision', async () => {
  const first = await EtcdCluster.start(1);
  const file = join(first.plane.dir, 'saved.db');
  const writer = new EtcdWriter(first.placeOf(0).endpoint.url);
  try {
    for (let key = 0; key < 5; key += 1) await writer.put(`/k/${key}`, 'x');
    await agreed(first.at(0), first.placeOf(0).endpoint.url, file);
    const place = await first.place();
    const restored = join(first.plane.dir, place.name);
    const bump = ['--bump-revision=1000000', '--mark-compacted'];
    const of = [`--name=${place.name}`, `--initial-cluster=${place.name}=${place.peerUrl}`];
    const peers = [...of, `--initial-advertise-peer-urls=${place.peerUrl}`];
    const etcdutl = await resolvePart('etcdutl');
    await run(etcdutl, ['snapshot', 'restore', file, `--data-dir=${restored}`, ...bump, ...peers]);
    await first.run(place, [place]);
    const { url } = place.endpoint;
    await agreed(first.at(1), url, file);
    await new EtcdWriter(url).put('/k/0', 'after');
    const { revision, compactRevision } = await agreed(first.at(1), url, file);
    expect([revision - compactRevision, compactRevision > 1_000_000n]).toEqual([1n, true]);
  } finally {
    await first.stop();
  }
});
