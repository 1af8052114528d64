// Our reading of an etcd with a history, live, from snapshots and from its own db file, agrees with
// etcdctl and etcdutl.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { startPlane, type Plane } from '../../../knative/try/local/plane/plane.ts';
import { type EtcdClient, openEtcd } from '../../../shared/etcd/client.ts';
import { openSnapshot } from '../../../shared/etcd/snapshot/snapshot.ts';
import { auditStored, countStored } from '../../../shared/stored/audit.ts';
import { keyPrefixes } from '../../../shared/stored/place.ts';
import { EtcdWriter, etcdctlSave, etcdutlStatus, pictureOf, witnessed } from './world.ts';

const run = promisify(execFile);

let plane: Plane;
let url: string;
let etcd: EtcdClient;
let writer: EtcdWriter;
let dir: string;

const widgets = { group: 'example.com', resource: 'widgets' };
const keyOf = (name: string): string => `/registry/example.com/widgets/web/${name}`;
const widget = (name: string, version: string, filler = ''): string =>
  JSON.stringify({
    apiVersion: `example.com/${version}`,
    kind: 'Widget',
    metadata: { name, namespace: 'web' },
    spec: { filler },
  });

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'audit-test-'));
  plane = await startPlane({ parts: ['etcd'], dataDir: join(dir, 'data') });
  url = plane.part('etcd').url;
  etcd = openEtcd({ endpoints: [url] });
  writer = new EtcdWriter(url);
});

afterAll(async () => {
  await etcd.close();
  await plane.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Compares etcdctl's list with live reading and two snapshots, and names each that differs. */
async function whoDisagrees(name: string): Promise<string[]> {
  const witness = await witnessed(url);
  const expected = { ...witness, totalKey: Object.keys(witness.picture).length };
  const revision = await etcd.revision();
  const live = { revision, picture: await pictureOf(etcd.entries([''], { revision })) };
  const disagree = isDeepStrictEqual(live, witness) ? [] : ['live'];
  const ours = join(dir, `${name}-ours.db`);
  const theirs = join(dir, `${name}-theirs.db`);
  await etcd.save(ours);
  await etcdctlSave(url, theirs);
  for (const path of [ours, theirs]) {
    const snapshot = openSnapshot(path);
    const picture = await pictureOf(snapshot.entries());
    const { totalKey, revision: newest } = await etcdutlStatus(path);
    const found = { revision: `${snapshot.facts.revision}`, picture, totalKey };
    const isSame = isDeepStrictEqual(found, expected) && BigInt(newest) === snapshot.facts.revision;
    if (!isSame || !snapshot.facts.hasDigest) disagree.push(path);
  }
  return disagree;
}

/** The result of a restore: the db of a member that has not been started yet. */
async function restored(name: string): Promise<string> {
  const data = join(dir, `${name}-restored`);
  const bump = ['--bump-revision', '1000000', '--mark-compacted'];
  const path = join(dir, `${name}-theirs.db`);
  const restore = ['snapshot', 'restore', path, '--data-dir', data, ...bump];
  await run(await resolvePart('etcdutl'), restore, { env: {} });
  return join(data, 'member', 'snap', 'db');
}

describe('an etcd with a history', () => {
  test('that is nearly empty, so that its bucket lies within another page', async () => {
    await writer.put(keyOf('first'), widget('first', 'v1alpha1'));
    expect(await whoDisagrees('small')).toEqual([]);
  });

  test('of updates: the newest version counts, where the oldest would be wrong', async () => {
    for (let index = 0; index < 60; index += 1) {
      await writer.put(keyOf(`w${index}`), widget(`w${index}`, 'v1'));
    }
    const back = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [
        keyOf(`w${index}`),
        widget(`w${index}`, 'v1alpha1'),
      ]),
    );
    await writer.putTogether(back);
    expect(await whoDisagrees('updates')).toEqual([]);
    const path = join(dir, 'updates-ours.db');
    const count = await countStored(openSnapshot(path).entries(), widgets);
    expect(count.total).toBe(61);
    expect(Object.fromEntries(count.versions)).toEqual({
      'example.com/v1alpha1': { count: 61, examples: ['web/first', 'web/w0', 'web/w1'] },
    });
  });

  test('of deletes and re-creations, with values of many pages', async () => {
    for (let index = 0; index < 20; index += 1) await writer.delete(keyOf(`w${index}`));
    for (let index = 0; index < 10; index += 1) {
      await writer.put(keyOf(`w${index}`), widget(`w${index}`, 'v1', 'x'.repeat(index * 3_000)));
    }
    await writer.put(keyOf('large'), widget('large', 'v1', 'y'.repeat(1_400_000)));
    await writer.put('/kubernetes.io/example.com/widgets/web/other', widget('other', 'v1'));
    expect(await whoDisagrees('deletes')).toEqual([]);
  });

  test('of which etcd has compacted a part, and then the rest, and defragmented', async () => {
    const revision = Number(await etcd.revision());
    await writer.compact(`${revision - 40}`);
    expect(await whoDisagrees('half')).toEqual([]);
    await writer.put(keyOf('w0'), widget('w0', 'v1alpha1'));
    await writer.delete(keyOf('w30'));
    await writer.compact(await etcd.revision());
    expect(await whoDisagrees('compacted')).toEqual([]);
    await writer.defragment();
    expect(await whoDisagrees('defragmented')).toEqual([]);
  });

  test('that was restored with revisions bumped, which leaves a record of nothing', async () => {
    const { picture } = await witnessed(url);
    await etcdctlSave(url, join(dir, 'bumped-theirs.db'));
    const snapshot = openSnapshot(await restored('bumped'));
    expect(await pictureOf(snapshot.entries())).toEqual(picture);
    expect(snapshot.facts.revision).toBeGreaterThan(1_000_000n);
  });
});

test('pages hold every key once, all of one moment, whatever is written meanwhile', async () => {
  for (const part of ['a', 'b', 'c']) {
    const keys = Array.from({ length: 100 }, (_, index) => keyOf(`${part}${index}`));
    await writer.putTogether(Object.fromEntries(keys.map((key) => [key, widget('many', 'v1')])));
  }
  const revision = await etcd.revision();
  const before = (await witnessed(url)).picture;
  const seen: string[] = [];
  let pages = 0;
  for await (const batch of etcd.entries([''], { revision })) {
    pages += 1;
    seen.push(...batch.map(({ key }) => key));
    await writer.put(keyOf('w3'), widget('w3', 'v9'));
    await writer.put(keyOf(`late-${seen.length}`), widget('late', 'v1'));
  }
  expect(seen.toSorted()).toEqual(Object.keys(before).toSorted());
  expect(pages).toBeGreaterThan(1);
});

test('a revision that is compacted meanwhile is an error, not a smaller count', async () => {
  const revision = await etcd.revision();
  await writer.put(keyOf('later'), widget('later', 'v1'));
  await writer.compact(await etcd.revision());
  const reading = auditStored(etcd.entries([''], { revision }));
  await expect(reading).rejects.toMatchObject({ code: 'ETCD_COMPACTED' });
});

test('one resource is read under its own prefix alone', async () => {
  const revision = await etcd.revision();
  const picture = await pictureOf(etcd.entries(keyPrefixes(widgets), { revision }));
  const { picture: all } = await witnessed(url);
  expect(Object.keys(picture).toSorted()).toEqual(Object.keys(all).toSorted());
});

test('the db file of a member that has stopped is read as it lies', async () => {
  const witness = await witnessed(url);
  await plane.part('etcd').stop();
  const snapshot = openSnapshot(join(dir, 'data/etcd/member/snap/db'));
  expect(await pictureOf(snapshot.entries())).toEqual(witness.picture);
  expect(snapshot.facts).toMatchObject({ hasDigest: false });
  const gone = etcd.revision();
  await expect(gone).rejects.toMatchObject({ code: 'ETCD_UNAVAILABLE' });
});
