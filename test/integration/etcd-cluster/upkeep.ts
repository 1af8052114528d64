// The upkeep of EtcdClusters on real etcds: a database that is full, a member whose data differs
// from that of the others, and claims that grow.
import { afterAll, expect, test } from 'vitest';
import type { EtcdClusterStatus } from '../../../shared/api/etcd-cluster.ts';
import { systemClock } from '../../../shared/clock.ts';
import { CLAIMS } from '../../../shared/stateful/parts.ts';
import { isEtcdFailure } from '../../../shared/etcd/admin/failure.ts';
import type { EtcdAdmin } from '../../../shared/etcd/admin.ts';
import { createStorageClass } from '../../builders/storage-class.ts';
import { type Named, SCENARIO_MS } from './etcd-scene.ts';
import { place } from './shared-place.ts';

const MIB = 2 ** 20;
/** Larger ones leave gaps in the file, and it is full before its keys are. */
const VALUE_BYTES = MIB / 8;
const OPEN = { clients: { mode: 'None' }, peers: { mode: 'None' } };
const SMALL = { tls: OPEN, quota: '16Mi', storage: { size: '128Mi' } };
const settings = { timeout: SCENARIO_MS };

/** A member that copies its database answers none of these. */
async function alarmsOf(admin: EtcdAdmin): Promise<readonly string[]> {
  try {
    return (await admin.alarms.list()).map(({ type }) => type);
  } catch (error) {
    if (!isEtcdFailure(error)) throw error;
    return ['unknown'];
  }
}

/** Puts values under one key after the other, until etcd has no room or does not answer. */
async function fill(admin: EtcdAdmin, nextKey: () => string): Promise<void> {
  for (;;) {
    try {
      await admin.keys.put(nextKey(), Buffer.alloc(VALUE_BYTES, 'x'));
    } catch (error) {
      if (isEtcdFailure(error)) return;
      throw error;
    }
  }
}

/** As a leader does that finds a difference, and blames the other one. */
async function blame(cluster: Named, peer: string): Promise<void> {
  const { members = [] } = await place.status(cluster);
  const id = members.find(({ name }) => name === peer)?.id ?? '';
  const [pod] = await place.pods(cluster);
  const url = `http://${String(Object(pod?.['status']).podIP)}:2379/v3/maintenance/alarm`;
  const memberID = String(BigInt(`0x${id}`));
  const body = JSON.stringify({ action: 'ACTIVATE', memberID, alarm: 'CORRUPT' });
  expect((await fetch(url, { method: 'POST', body })).status).toBe(200);
}

afterAll(() => place.endAll());

test(
  'a full database: history makes room by itself, keys are told, and a larger quota helps',
  settings,
  async () => {
    const cluster: Named = { namespace: 'full', name: 'etcd' };
    await place.namespace(cluster.namespace);
    await place.create(cluster, SMALL);
    await place.wakeUntilReady(cluster);
    const admin = await place.client(cluster);
    // The free part is given back first, and then there is room again without a loss.
    await place.wakeUntil(cluster, 'history to be forgotten', async () => {
      if (await admin.keys.isForgotten('2').catch(() => false)) return true;
      if ((await alarmsOf(admin)).length === 0) await fill(admin, () => '/shop/stock');
      return false;
    });
    await place.wakeUntilReady(cluster);
    expect(await alarmsOf(admin)).toEqual([]);
    let keys = 0;
    const told = /^True AlarmNOSPACE.*\/shop\/odd\/: \d+, about \d MiB/;
    const nextKey = (): string => `/shop/${(keys += 1) % 2 === 0 ? 'even' : 'odd'}/${keys}`;
    await place.wakeUntil(cluster, 'the keys to be told', async () => {
      if ((await alarmsOf(admin)).length === 0) await fill(admin, nextKey);
      return told.test(await place.condition(cluster, 'Degraded'));
    });
    await place.edit(cluster, { quota: '32Mi' });
    await place.wakeUntilReady(cluster);
    const after = await place.client(cluster);
    expect(await alarmsOf(after)).toEqual([]);
    await after.keys.put('/shop/more', Buffer.alloc(MIB, 'x'));
    await admin.close();
    await after.close();
    await place.delete(cluster);
  },
);

const idOf = ({ members = [] }: EtcdClusterStatus, peer: string): string | undefined =>
  members.find(({ name }) => name === peer)?.id;

/** Whole again after each damage, it goes on to the next: a birth is dear. */
const DAMAGED: Named = { namespace: 'damaged', name: 'etcd' };

test('the member whose data differs is replaced, whomever etcd blames', settings, async () => {
  const cluster = DAMAGED;
  await place.namespace(cluster.namespace);
  await place.create(cluster, { ...SMALL, quota: '64Mi' });
  await place.wakeUntilReady(cluster);
  const before = await place.status(cluster);
  const admin = await place.client(cluster);
  await admin.keys.put('/shop/price', 'one hundred');
  await place.damage(cluster, 'etcd-1', 'one hundred');
  await place.wakeUntilReady(cluster);
  await blame(cluster, 'etcd-2');
  await place.wakeUntil(cluster, 'another member in its place', (status) => {
    const now = idOf(status, 'etcd-1');
    return now !== undefined && now !== idOf(before, 'etcd-1');
  });
  await place.wakeUntilReady(cluster);
  const status = await place.status(cluster);
  const kept = ['etcd-0', 'etcd-2'];
  expect(kept.map((peer) => idOf(status, peer))).toEqual(kept.map((peer) => idOf(before, peer)));
  const after = await place.client(cluster);
  expect(await alarmsOf(after)).toEqual([]);
  await after.keys.put('/shop/stock', 'ten');
  expect((await after.keys.get('/shop/price')).found?.value.toString()).toBe('one hundred');
  await admin.close();
  await after.close();
});

/** Members and functions share the processors with it. */
const WRITE_PAUSE_MS = 25;

/** Writes one key after the other until it is told to end, and returns those that were taken. */
function keepWriting(admin: EtcdAdmin): () => Promise<readonly string[]> {
  const taken: string[] = [];
  const over = new AbortController();
  const writing = (async (): Promise<void> => {
    for (let number = 0; !over.signal.aborted; number += 1) {
      const key = `/shop/orders/${number}`;
      try {
        await admin.keys.put(key, key);
        taken.push(key);
      } catch (error) {
        if (!isEtcdFailure(error)) throw error;
      }
      await systemClock.sleep(WRITE_PAUSE_MS);
    }
  })();
  return async () => {
    over.abort();
    await writing;
    return taken;
  };
}

const degraded = (cluster: Named, words: string) => async (): Promise<boolean> =>
  (await place.condition(cluster, 'Degraded')).includes(words);

test(
  'a member that refuses its data is replaced, once, and nothing is lost',
  settings,
  async () => {
    const cluster = DAMAGED;
    const { namespace } = cluster;
    const { members = [], clusterId = '' } = await place.status(cluster);
    const admin = await place.client(cluster);
    const stopWriting = keepWriting(admin);
    await place.spoil(cluster, 'etcd-1', 'log');
    await place.wakeUntil(
      cluster,
      'another member',
      (status) => idOf(status, 'etcd-3') !== undefined,
    );
    await place.wakeUntilReady(cluster);
    const taken = await stopWriting();
    const after = await place.client(cluster);
    for (const key of taken) expect((await after.keys.get(key)).found?.value.toString()).toBe(key);
    expect(taken.length).toBeGreaterThan(100);
    const status = await place.status(cluster);
    const stayed = ['etcd-0', 'etcd-2'];
    expect(stayed.map((peer) => idOf(status, peer))).toEqual(
      stayed.map((peer) => members.find(({ name }) => name === peer)?.id),
    );
    const { claim = '', why, claimUid } = status.refused ?? {};
    const kept = await place.kube.get(CLAIMS, { namespace, name: 'data-etcd-1' });
    expect({ claim, why, uid: kept?.metadata.uid }).toEqual({
      claim: 'data-etcd-1',
      why: 'its log on the disk is damaged',
      uid: claimUid,
    });
    const mark = kept?.metadata.annotations?.['ballast.dev/etcd-cluster-id'];
    expect(mark).toBe(`removed-from-${clusterId}`);
    await place.spoil(cluster, 'etcd-2', 'database');
    const told = 'Delete claim data-etcd-1, which is kept aside, and etcd-2 is, too.';
    await place.wakeUntil(cluster, 'the second one to be told', degraded(cluster, told));
    expect(idOf(await place.status(cluster), 'etcd-2')).toBe(idOf(status, 'etcd-2'));
    await place.kube.delete(CLAIMS, { namespace, name: claim }, { uid: claimUid ?? '' });
    await place.wakeUntil(cluster, 'another one', (now) => idOf(now, 'etcd-1') !== undefined);
    await place.wakeUntilReady(cluster);
    expect((await place.status(cluster)).refused?.why).toBe('its database is damaged');
    await admin.close();
    await after.close();
    await place.delete(cluster);
  },
);

test('a larger size reaches the claims, and restarts nobody', settings, async () => {
  const cluster: Named = { namespace: 'grown', name: 'etcd' };
  await place.namespace(cluster.namespace);
  await createStorageClass(place.kube, 'growing', true);
  await createStorageClass(place.kube, 'rigid', false);
  await place.create(cluster, { storage: { size: '10Gi', storageClassName: 'growing' } });
  const rigid: Named = { namespace: 'grown', name: 'rigid' };
  const storage = { size: '10Gi', storageClassName: 'rigid' };
  await place.create(rigid, { replicas: 1, storage });
  await place.wakeUntilReady(cluster);
  await place.wakeUntilReady(rigid);
  const pods = await place.podUids(cluster);
  const shrunk = place.edit(cluster, { storage: { size: '5Gi' } });
  await expect(shrunk).rejects.toThrow('Storage does not shrink');
  await place.edit(cluster, { storage: { size: '20Gi' } });
  await place.edit(rigid, { storage: { size: '20Gi' } });
  const sizes = async (): Promise<readonly string[]> =>
    (await place.kube.list(CLAIMS, { namespace: 'grown' })).items.map(
      ({ spec }) => Object(spec).resources.requests.storage,
    );
  await place.wakeUntil(
    cluster,
    'the claims to grow',
    async () => (await sizes()).toSorted().join() === '10Gi,20Gi,20Gi,20Gi',
  );
  await place.wakeUntil(rigid, 'the refusal of its class to be told', async () =>
    (await place.condition(rigid, 'Degraded')).startsWith('True StorageCannotGrow: EtcdPeer rig'),
  );
  await place.wakeUntilReady(cluster);
  expect(await place.podUids(cluster)).toEqual(pods);
});
