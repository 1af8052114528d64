// A scene of a takeover by snapshot and restore: an old etcd with leases and thousands of keys, and
// a writer that keeps its connection. Rolled back from amid the way it serves as before; carried
// out, not a single acknowledged write is lost, also one that somebody forced through in between.
import { expect } from 'vitest';
import type { TakeoverStatus } from '../../../shared/api/takeover.ts';
import { openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import { CLAIMS, PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import { DEPLOYMENTS } from '../../builders/legacy-kind.ts';
import { base64, type LegacyClient } from './legacy-client.ts';
import { alive, type Witness } from './mortal-takeover.ts';
import { namespace, type OldSide } from './old-side.ts';
import { TakeoverPlace } from './takeover-place.ts';
import { podOfService, Writer } from './writer.ts';

const KEYS = 2_400;
const KEYS_PER_TXN = 100;
const NEW = { namespace, name: 'old-2' };
const LONG = { timeout: 60_000 };

interface Pair {
  readonly value: string;
  readonly revisions: string;
}

const isAt = (step: string) => (status: TakeoverStatus) => status.steps?.at(-1)?.name === step;

export interface RestoreScene {
  readonly place: TakeoverPlace;
  readonly client: LegacyClient;
  readonly writer: Writer;
}

export async function startScene(side: OldSide): Promise<RestoreScene> {
  const place = await TakeoverPlace.start(side);
  const own = place.client();
  const resolve = podOfService(place.etcd.kube, { namespace, name: side.service });
  const writer = new Writer(own, async () => own.urlAt(await resolve()));
  const scene = { place, client: place.client(), writer };
  await fill(scene, oldUrl(scene));
  writer.start();
  return scene;
}

export async function stopScene({ place, client, writer }: RestoreScene): Promise<void> {
  client.close();
  await writer.stop();
  await place.stop();
}

/** The first one of pods of Jobs is thrown. */
export function expectNoErrors({ place }: RestoreScene): void {
  const { backups, restores } = place.copying;
  const [error] = [...backups.errors.splice(0), ...restores.errors.splice(0)];
  if (error !== undefined) throw error;
}

function oldUrl(scene: RestoreScene, at = 0): string {
  return scene.client.urlAt(scene.place.side.members[at]?.ip ?? '');
}

/** Some are written twice, some are deleted, and some have a lease. */
async function fill(scene: RestoreScene, url: string): Promise<void> {
  const client = scene.client;
  const { gateway } = scene.place.side;
  await client.post(url, `${gateway}/lease/grant`, { TTL: '3600', ID: '4711' });
  for (let first = 0; first < KEYS; first += KEYS_PER_TXN) {
    const success = Array.from({ length: KEYS_PER_TXN }, (_, at) => ({
      request_put: {
        key: base64(`key/${first + at}`),
        value: base64(`value of ${first + at}`),
        ...((first + at) % 10 === 0 ? { lease: '4711' } : {}),
      },
    }));
    await client.post(url, `${gateway}/kv/txn`, { success });
  }
  for (let at = 0; at < KEYS; at += 50) await client.put(url, `key/${at}`, `once more ${at}`);
  await client.post(url, `${gateway}/kv/deleterange`, { key: base64('key/1') });
}

async function replicas(scene: RestoreScene): Promise<number> {
  const found = await scene.place.etcd.kube.get(DEPLOYMENTS, scene.place.side.operator);
  return Number(Object(found?.['spec']).replicas);
}

async function untilMore(scene: RestoreScene): Promise<void> {
  const writesOf = (): number => scene.writer.written.length;
  const before = writesOf();
  await expect.poll(writesOf, { timeout: 30_000 }).toBeGreaterThan(before + 3);
}

/** `amid` looks at the old members while writers wait. */
export async function expectRolledBackAmid(
  scene: RestoreScene,
  amid = async (): Promise<void> => undefined,
): Promise<void> {
  const { place } = scene;
  await rollBack(scene, 'back', async () => {
    // Members of the new cluster are joining.
    await place.wakeUntil('back', 'members with claims', async () => {
      const claims = await place.found('persistentvolumeclaims', '');
      return claims.filter((one) => one.startsWith('data-old-2-')).length > 1;
    });
    expect(await replicas(scene)).toBe(0);
    const forced = scene.client.put(oldUrl(scene, 1), 'forced', 'x');
    await expect(forced).rejects.toThrow('corrupt cluster');
    await amid();
    await place.edit('back', { rollback: true });
  });
}

/** All is compared, and somebody is just before him who notes that clients are led over. */
export async function expectRolledBackLate(scene: RestoreScene): Promise<void> {
  const { place } = scene;
  let isAsked = false;
  const back: Witness = async (when, write) => {
    if (isAsked || when === 'after' || write !== 'apply takeovers') return;
    if (!isAt('SwitchService')(await place.status('late'))) return;
    isAsked = true;
    await place.edit('late', { rollback: true });
  };
  await place.startTakeover(back);
  await rollBack(scene, 'late', async () => undefined);
  const { steps, work } = await place.status('late');
  expect([isAsked, steps?.at(-1)?.name]).toEqual([true, 'SwitchService']);
  expect(work?.switchingAt).toBeUndefined();
  await place.startTakeover(alive);
}

async function rollBack(
  scene: RestoreScene,
  name: string,
  until: () => Promise<void>,
): Promise<void> {
  const { place } = scene;
  const { kube } = place.etcd;
  const { service, claims } = place.side;
  const before = await kube.get(SERVICES, { namespace, name: service });
  const pods = await place.found('pods', '');
  await untilMore(scene);
  await place.confirm(name);
  await until();
  await place.wakeUntil(name, 'it to be rolled back', ({ phase }) => phase === 'RolledBack');
  await untilMore(scene);
  expect(await replicas(scene)).toBe(1);
  const after = await kube.get(SERVICES, { namespace, name: service });
  expect(after?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
  expect(await place.found('etcdclusters')).toEqual([]);
  expect(await place.found('etcdbackups')).toEqual([]);
  expect(await place.found('etcdrestores')).toEqual([]);
  await expect.poll(() => place.found('persistentvolumeclaims', ''), LONG).toEqual(claims);
  await expect.poll(() => place.found('pods', ''), LONG).toEqual(pods);
}

async function allOf(
  scene: RestoreScene,
  url: string,
  root: string,
): Promise<ReadonlyMap<string, Pair>> {
  const all = new Map<string, Pair>();
  const range = { key: base64('\0'), range_end: base64('\0') };
  const { kvs = [] } = Object(await scene.client.post(url, `${root}/kv/range`, range)) as {
    kvs?: readonly Record<string, string>[];
  };
  for (const { key = '', value = '', lease = '', ...rest } of kvs) {
    const revisions = `${rest['create_revision']} ${rest['mod_revision']} ${lease}`;
    all.set(Buffer.from(key, 'base64').toString(), { value, revisions });
  }
  return all;
}

async function urlOfNew(scene: RestoreScene): Promise<string> {
  const [pod] = await scene.place.etcd.pods(NEW);
  return scene.client.urlAt(String(Object(pod?.['status']).podIP));
}

/** Somebody ends the alarm and writes, behind the back of the takeover. */
async function writeLate(scene: RestoreScene): Promise<void> {
  const { tls, members } = scene.place.side;
  const endpoint = { url: oldUrl(scene), serverName: members[0]?.host };
  const old = openEtcdAdmin({ endpoints: [endpoint], tls: tls?.client });
  for (const { memberId } of await old.alarms.list()) {
    await old.alarms.disarm({ memberId, type: 'CORRUPT' });
  }
  await old.keys.put('late', 'written after the freeze');
  await old.close();
}

/** Every key with its revisions and lease, and every write that was acknowledged. */
async function expectAllKeys(scene: RestoreScene, compared: number | undefined): Promise<void> {
  const { gateway } = scene.place.side;
  const was = await allOf(scene, oldUrl(scene), gateway);
  const is = await allOf(scene, await urlOfNew(scene), '/v3');
  expect(was.size).toBeGreaterThan(KEYS);
  expect(compared).toBe(was.size);
  for (const [key, pair] of was) expect([key, is.get(key)]).toEqual([key, pair]);
  expect([is.has('late'), is.has('key/1')]).toEqual([true, false]);
  expect(scene.writer.written.filter(({ key }) => !is.has(key))).toEqual([]);
}

async function expectLetGo(scene: RestoreScene): Promise<void> {
  const { etcd, side } = scene.place;
  const { labelSelector } = side;
  expect(await etcd.kube.get(side.ref, { namespace, name: 'old' })).toBeNull();
  const podsLeft = async () => (await etcd.kube.list(PODS, { namespace, labelSelector })).items;
  await expect.poll(podsLeft, LONG).toEqual([]);
  const services = ['old-2', 'old-2-headless', side.service].toSorted();
  await expect.poll(() => scene.place.found('services', ''), LONG).toEqual(services);
  const { items } = await etcd.kube.list(CLAIMS, { namespace, labelSelector });
  expect(items.map(({ metadata }) => metadata.name)).toEqual(side.claims);
  expect(items.flatMap(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([]);
}

/** Written to once more after the snapshot, and by a function that ends amid the way. */
export async function expectCarriedOut(scene: RestoreScene): Promise<void> {
  const { place } = scene;
  place.copying.restores.isHeld = true;
  const id = await place.confirm('over');
  await place.wakeUntil('over', 'it to be restored', isAt('MakeCluster'));
  await writeLate(scene);
  await place.wakeUntil('over', 'another attempt', ({ work }) => work?.attempt === 2);
  place.copying.restores.isHeld = false;
  await place.startTakeover(alive);
  await place.wakeUntil('over', 'it to be done', ({ phase }) => phase === 'Done');
  const { plan, work, steps = [], conditions } = await place.status('over');
  expect([plan?.id, work?.plan]).toEqual([id, id]);
  expect(steps.map(({ name }) => name)).toEqual(plan?.steps.map(({ name }) => name));
  const complete = conditions?.find(({ type }) => type === 'Complete');
  expect(complete).toMatchObject({ status: 'True', reason: 'TakenOver' });
  expect(await replicas(scene)).toBe(0);
  await untilMore(scene);
  await scene.writer.stop();
  await expectAllKeys(scene, work?.compared?.keys);
  await expectLetGo(scene);
  const rollback = place.edit('over', { rollback: true });
  await expect(rollback).rejects.toThrow('nothing leads back any more');
}
