// A confirmed plan on a real etcd 3.3.27 with leases, thousands of keys and a writer that keeps its
// connection: rolled back from amid the way it serves as before; carried out, not a single
// acknowledged write is lost, also one that somebody forced through in between. Over TLS clients go
// on with the certificates and the authority that they had.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LEGACY_ETCDS } from '../../../shared/api/takeover.ts';
import { openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import { CLAIMS, PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import { NONE } from '../manifests/misfits.ts';
import { namespace, TakeoverPlace } from './takeover-place.ts';
import { DEPLOYMENTS } from '../../builders/legacy-kind.ts';
import { base64, type LegacyClient } from './legacy-client.ts';
import { podOfService, Writer } from './writer.ts';

const LONG_MS = 600_000;
const KEYS = 2_400;
const KEYS_PER_TXN = 100;
const NEW = { namespace, name: 'old-2' };

let place: TakeoverPlace;
let writer: Writer;
let client: LegacyClient;

const oldUrl = (at = 0): string => client.urlAt(place.members[at]?.ip ?? '');

function around(isSecret: boolean): void {
  beforeAll(async () => {
    place = await TakeoverPlace.start({ isSecret });
    client = place.client();
    await fill(oldUrl());
    const own = place.client();
    const resolve = podOfService(place.etcd.kube, { namespace, name: 'old-client' });
    writer = new Writer(own, async () => own.urlAt(await resolve()));
    writer.start();
  }, LONG_MS);

  afterAll(async () => {
    client?.close();
    await writer?.stop();
    await place?.stop();
  });
}

afterEach(() => {
  const [error] = [...place.backups.errors.splice(0), ...place.restores.errors.splice(0)];
  if (error !== undefined) throw error;
});

/** Some are written twice, some are deleted, and some have a lease. */
async function fill(url: string): Promise<void> {
  await client.post(url, '/v3beta/lease/grant', { TTL: '3600', ID: '4711' });
  for (let first = 0; first < KEYS; first += KEYS_PER_TXN) {
    const success = Array.from({ length: KEYS_PER_TXN }, (_, at) => ({
      request_put: {
        key: base64(`key/${first + at}`),
        value: base64(`value of ${first + at}`),
        ...((first + at) % 10 === 0 ? { lease: '4711' } : {}),
      },
    }));
    await client.post(url, '/v3beta/kv/txn', { success });
  }
  for (let at = 0; at < KEYS; at += 50) await client.put(url, `key/${at}`, `once more ${at}`);
  await client.post(url, '/v3beta/kv/deleterange', { key: base64('key/1') });
}

const isAt = (step: string) => (status: { readonly steps?: readonly { name: string }[] }) =>
  status.steps?.at(-1)?.name === step;

const replicasOf = async (): Promise<number> => {
  const found = await place.etcd.kube.get(DEPLOYMENTS, { namespace, name: 'etcd-operator' });
  return Number(Object(found?.['spec']).replicas);
};

const writesOf = (): number => writer.written.length;
const untilMore = async (): Promise<void> => {
  const before = writesOf();
  await expect.poll(writesOf, { timeout: 30_000 }).toBeGreaterThan(before + 3);
};

async function rollBack(): Promise<void> {
  const { kube } = place.etcd;
  const before = await kube.get(SERVICES, { namespace, name: 'old-client' });
  const pods = await place.found('pods', '');
  await untilMore();
  await place.confirm('back');
  // Members of the new cluster are joining.
  await place.wakeUntil('back', 'members with claims', async () => {
    const claims = await place.found('persistentvolumeclaims', '');
    return claims.filter((one) => one.startsWith('data-old-2-')).length > 1;
  });
  const stopped = writesOf();
  expect(await replicasOf()).toBe(0);
  await expect(client.put(oldUrl(1), 'forced', 'x')).rejects.toThrow('corrupt cluster');
  await place.edit('back', { rollback: true });
  await place.wakeUntil('back', 'it to be rolled back', ({ phase }) => phase === 'RolledBack');
  await untilMore();
  expect(writesOf()).toBeGreaterThan(stopped);
  expect(await replicasOf()).toBe(1);
  const after = await kube.get(SERVICES, { namespace, name: 'old-client' });
  expect(after?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
  expect(await place.found('etcdclusters')).toEqual([]);
  expect(await place.found('etcdbackups')).toEqual([]);
  expect(await place.found('etcdrestores')).toEqual([]);
  await expect
    .poll(() => place.found('persistentvolumeclaims', ''), { timeout: 30_000 })
    .toEqual(['old-b', 'old-c']);
  await expect.poll(() => place.found('pods', ''), { timeout: 30_000 }).toEqual(pods);
}

interface Pair {
  readonly value: string;
  readonly revisions: string;
}

async function allOf(url: string, root: string): Promise<ReadonlyMap<string, Pair>> {
  const all = new Map<string, Pair>();
  const range = { key: base64('\0'), range_end: base64('\0') };
  const { kvs = [] } = Object(await client.post(url, `${root}/kv/range`, range)) as {
    kvs?: readonly Record<string, string>[];
  };
  for (const { key = '', value = '', lease = '', ...rest } of kvs) {
    const revisions = `${rest['create_revision']} ${rest['mod_revision']} ${lease}`;
    all.set(Buffer.from(key, 'base64').toString(), { value, revisions });
  }
  return all;
}

async function urlOfNew(): Promise<string> {
  const [pod] = await place.etcd.pods(NEW);
  return client.urlAt(String(Object(pod?.['status']).podIP));
}

/** Somebody ends the alarm and writes, behind the back of the takeover. */
async function writeLate(): Promise<void> {
  const endpoint = { url: oldUrl(), serverName: place.members[0]?.host };
  const old = openEtcdAdmin({ endpoints: [endpoint], tls: place.tls?.client });
  for (const { memberId } of await old.alarms.list()) {
    await old.alarms.disarm({ memberId, type: 'CORRUPT' });
  }
  await old.keys.put('late', 'written after the freeze');
  await old.close();
}

/** Every key with its revisions and lease, and every write that was acknowledged. */
async function expectAllKeys(compared: number | undefined): Promise<void> {
  const [was, is] = [await allOf(oldUrl(), '/v3beta'), await allOf(await urlOfNew(), '/v3')];
  expect(was.size).toBeGreaterThan(KEYS);
  expect(compared).toBe(was.size);
  for (const [key, pair] of was) expect([key, is.get(key)]).toEqual([key, pair]);
  expect([is.has('late'), is.has('key/1')]).toEqual([true, false]);
  expect(writer.written.filter(({ key }) => !is.has(key))).toEqual([]);
}

async function expectLetGo(): Promise<void> {
  const { kube } = place.etcd;
  expect(await kube.get(LEGACY_ETCDS, { namespace, name: 'old' })).toBeNull();
  const labelSelector = 'etcd_cluster=old';
  const podsLeft = async () => (await kube.list(PODS, { namespace, labelSelector })).items;
  await expect.poll(podsLeft).toEqual([]);
  const services = ['old-2', 'old-2-headless', 'old-client'];
  await expect.poll(() => place.found('services', '')).toEqual(services);
  const claims = await kube.list(CLAIMS, { namespace, labelSelector });
  expect(claims.items.map(({ metadata }) => metadata.name)).toEqual(['old-b', 'old-c']);
  expect(claims.items.flatMap(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([]);
}

async function carryOut(): Promise<void> {
  place.restores.isHeld = true;
  const id = await place.confirm('over');
  await place.wakeUntil('over', 'it to be restored', isAt('MakeCluster'));
  await writeLate();
  await place.wakeUntil('over', 'another attempt', ({ work }) => work?.attempt === 2);
  place.restores.isHeld = false;
  await place.restartTakeover();
  await place.wakeUntil('over', 'it to be done', ({ phase }) => phase === 'Done');
  const { plan, work, steps = [], conditions } = await place.status('over');
  expect([plan?.id, work?.plan]).toEqual([id, id]);
  expect(steps.map(({ name }) => name)).toEqual(plan?.steps.map(({ name }) => name));
  const complete = conditions?.find(({ type }) => type === 'Complete');
  expect(complete).toMatchObject({ status: 'True', reason: 'TakenOver' });
  await untilMore();
  await writer.stop();
  await expectAllKeys(work?.compared?.keys);
  await expectLetGo();
  const rollback = place.edit('over', { rollback: true });
  await expect(rollback).rejects.toThrow('nothing leads back any more');
}

describe('without TLS', () => {
  around(false);
  test('carried out, no acknowledged write is lost', { timeout: LONG_MS }, carryOut);
});

describe('over TLS', () => {
  around(true);
  test('rolled back from amid, the old cluster serves as before', { timeout: LONG_MS }, rollBack);
  test('carried out, no acknowledged write is lost', { timeout: LONG_MS }, async () => {
    await carryOut();
    // There and back each right was used, and none was missing.
    expect(await place.misfits()).toEqual(NONE);
  });
});
