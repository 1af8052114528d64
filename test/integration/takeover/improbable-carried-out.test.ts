// A confirmed plan of an EtcdCluster of improbable's operator on a real etcd 3.3.27 with a writer
// on its headless Service: rolled back, all is as it was. Carried out by a function that dies
// before and after each of its writes, no acknowledged write is lost, all claims stay, also that
// of a member whose finalizer would have deleted it, and all else goes by the garbage collector.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { IMPROBABLE_ETCDS } from '../../../shared/api/takeover.ts';
import type { ResourceRef } from '../../../shared/kube/objects.ts';
import { CLAIMS, PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import { IMPROBABLE_PEERS } from '../../builders/legacy-improbable.ts';
import { until } from '../../builders/versioned-kind.ts';
import { ImprobablePlace, OPERATOR, PEERS } from './improbable-place.ts';
import { base64, LegacyClient } from './legacy-client.ts';
import { expectTakenOver } from './mortal-place.ts';
import { alive, deaths, type Witness } from './mortal-takeover.ts';
import { namespace } from './old-side.ts';
import { podOfService, Writer } from './writer.ts';

const LONG_MS = 600_000;
const REPLICA_SETS = { group: 'apps', version: 'v1', resource: 'replicasets' } as const;

let place: ImprobablePlace;
let writer: Writer;
const client = new LegacyClient(undefined, '');

beforeAll(async () => {
  place = await ImprobablePlace.start();
  const resolve = podOfService(place.kube, { namespace, name: 'old' });
  const own = new LegacyClient(undefined, '');
  // The pod of the removed member answers nobody, and DNS tells it as well.
  writer = new Writer(own, async () => own.urlAt(await resolve()));
  writer.start();
}, LONG_MS);

afterAll(async () => {
  client.close();
  await writer?.stop();
  await place?.stop();
}, LONG_MS);

const namesOf = (ref: ResourceRef) => place.namesOf(ref);
const writesOf = (): number => writer.written.length;
const untilMore = async (): Promise<void> => {
  const before = writesOf();
  await expect.poll(writesOf, { timeout: 60_000 }).toBeGreaterThan(before + 3);
};

const versionsOf = async (ref: ResourceRef): Promise<readonly string[]> =>
  (await place.kube.list(ref, { namespace })).items
    .map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
    .toSorted();

test('rolled back all is as it was', { timeout: LONG_MS }, async () => {
  const kinds = [IMPROBABLE_ETCDS, IMPROBABLE_PEERS, REPLICA_SETS, SERVICES, CLAIMS];
  const before = await Promise.all(kinds.map(versionsOf));
  await untilMore();
  await place.startTakeover(alive);
  await place.confirm('back');
  const isMade = ({ steps }: { readonly steps?: readonly { readonly name: string }[] }) =>
    steps?.at(-1)?.name === 'MakeCluster';
  await place.wakeUntil('back', 'it to be restored', isMade);
  expect(await place.replicasOf(OPERATOR)).toBe(0);
  await expect(client.put(place.oldUrl, 'forced', 'x')).rejects.toThrow('corrupt cluster');
  await place.edit('back', { rollback: true });
  await place.wakeUntil('back', 'it to be rolled back', ({ phase }) => phase === 'RolledBack');
  await untilMore();
  expect(await place.replicasOf(OPERATOR)).toBe(1);
  const kept = async () => Promise.all(kinds.map(versionsOf));
  await expect.poll(kept, { timeout: 60_000 }).toEqual(before);
});

const WRITES = [
  'patch deployments',
  'create persistentvolumeclaims',
  'create etcdbackups',
  'create etcdrestores',
  'patch services',
  'patch etcdpeers',
  'delete etcdclusters',
  'apply takeovers',
];

/** Once the Service is led over DNS tells old members no more. */
const forgetting =
  (next: Witness): Witness =>
  async (when, write) => {
    if (when === 'after' && write === 'patch services') await place.forgetNames();
    await next(when, write);
  };

/** The webhook of the operator refuses each change of an EtcdPeer. */
const isBlocked = async (): Promise<boolean> => {
  const { conditions = [] } = await place.status('over');
  return conditions.some(({ type, reason }) => type === 'Degraded' && reason === 'WebhookFails');
};

test('carried out with a death at each write', { timeout: LONG_MS }, async () => {
  await place.startTakeover(alive);
  const id = await place.confirm('over');
  const { notes = [], steps = [] } = (await place.status('over')).plan ?? {};
  expect(notes.map(({ reason }) => reason)).toContain('PeersHeld');
  expect(steps.map(({ name }) => name)).toContain('ReleasePeers');
  const told = deaths();
  const blocked = until('webhooks to be told of', isBlocked, LONG_MS);
  const unblocked = blocked.then(() => place.deleteWebhook());
  await place.wakeUntilDone('over', told, forgetting(told.witness));
  await unblocked;
  await expectTakenOver(place, 'over', id, told, WRITES);
  const released = (await place.status('over')).steps?.find(({ name }) => name === 'ReleasePeers');
  expect(released?.precondition).toMatch(/^old-3 has uid /);
  await untilMore();
  await writer.stop();
  await expect(place.edit('over', { rollback: true })).rejects.toThrow('nothing leads back any');
});

test('no acknowledged write is lost', async () => {
  const [pod] = await place.etcd.pods({ namespace, name: 'old-2' });
  const url = client.urlAt(String(Object(pod?.['status']).podIP));
  const all = { key: base64('\0'), range_end: base64('\0'), keys_only: true };
  const { kvs = [] } = Object(await client.post(url, '/v3/kv/range', all)) as {
    kvs?: readonly { readonly key: string }[];
  };
  const there = new Set(kvs.map(({ key }) => Buffer.from(key, 'base64').toString()));
  expect(writer.written.filter(({ key }) => !there.has(key))).toEqual([]);
  expect(writer.written.length).toBeGreaterThan(10);
});

test('nothing is left of the old cluster but its claims', { timeout: LONG_MS }, async () => {
  expect(await place.service()).toMatchObject({
    selector: { 'ballast.dev/etcd-cluster': 'old-2' },
    clusterIP: 'None',
    publishNotReadyAddresses: false,
    owners: undefined,
  });
  const long = { timeout: 120_000 };
  await expect.poll(() => namesOf(IMPROBABLE_ETCDS), long).toEqual([]);
  await expect.poll(() => namesOf(IMPROBABLE_PEERS), long).toEqual([]);
  await expect.poll(() => namesOf(REPLICA_SETS), long).toEqual([]);
  const old = { namespace, labelSelector: 'etcd.improbable.io/cluster-name=old' };
  const podsLeft = async () => (await place.kube.list(PODS, old)).items;
  await expect.poll(podsLeft, long).toEqual([]);
  expect(await namesOf(SERVICES)).toEqual(['old', 'old-2', 'old-2-headless']);
  expect(await namesOf(ETCD_CLUSTERS)).toEqual(['old-2']);
  const { items } = await place.kube.list(CLAIMS, old);
  expect(items.map(({ metadata }) => [metadata.name, metadata.deletionTimestamp])).toEqual(
    PEERS.map((name) => [name, undefined]),
  );
  expect(await place.replicasOf(OPERATOR)).toBe(0);
});
