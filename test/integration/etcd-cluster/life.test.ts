// The life of EtcdClusters on real etcds: birth, more members and fewer, another spec, a member
// that is lost, sleep, and coming back.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EtcdPlace } from './etcd-place.ts';
import { type Named, SCENARIO_MS } from './etcd-scene.ts';

let place: EtcdPlace;

beforeAll(async () => {
  place = await EtcdPlace.start();
}, SCENARIO_MS);

afterAll(async () => {
  await place?.stop();
});

test(
  'three lines become three members with certificates, and what was written stays',
  {
    timeout: SCENARIO_MS,
  },
  async () => {
    const cluster: Named = { namespace: 'three-lines', name: 'etcd' };
    await place.namespace(cluster.namespace);
    await place.create(cluster, { storage: { size: '10Gi' } });
    await place.wakeUntilReady(cluster);
    const { clusterId, members = [], voters } = await place.status(cluster);
    expect({ voters, roles: members.map(({ role = '' }) => role).toSorted() }).toEqual({
      voters: '3/3',
      roles: ['Follower', 'Follower', 'Leader'],
    });
    await place.edit(cluster, { replicas: 5 });
    await place.wakeUntilReady(cluster);
    await place.edit(cluster, { replicas: 3 });
    await place.wakeUntilReady(cluster);
    expect((await place.claims(cluster)).map(({ metadata }) => metadata.name).toSorted()).toEqual([
      'data-etcd-0',
      'data-etcd-1',
      'data-etcd-2',
    ]);
    await place.delete(cluster);
    await place.create(cluster, { storage: { size: '10Gi' } });
    await place.wakeUntilReady(cluster);
    expect((await place.status(cluster)).clusterId).toBe(clusterId);
  },
);

test(
  'another spec comes to one member at a time, and a lost member is replaced',
  {
    timeout: SCENARIO_MS,
  },
  async () => {
    const cluster: Named = { namespace: 'rolled', name: 'etcd' };
    await place.namespace(cluster.namespace);
    await place.create(cluster, {});
    await place.wakeUntilReady(cluster);
    const before = await place.podUids(cluster);
    await place.edit(cluster, { snapshotCount: 5_000 });
    await place.wakeUntilReady(cluster);
    const after = await place.podUids(cluster);
    expect(after.filter((uid) => before.includes(uid))).toEqual([]);
    const { clusterId, members = [] } = await place.status(cluster);
    await place.loseClaim(cluster, 'data-etcd-1');
    await place.wakeUntil(cluster, 'a member to be replaced', (status) => {
      const now = status.members?.find(({ name }) => name === 'etcd-1');
      return now?.id !== undefined && !members.some(({ id }) => id === now.id);
    });
    await place.wakeUntilReady(cluster);
    const now = await place.status(cluster);
    expect({ clusterId: now.clusterId, voters: now.voters }).toEqual({ clusterId, voters: '3/3' });
  },
);

test(
  'it hibernates and wakes up whole, and does not come up empty when its data is gone',
  {
    timeout: SCENARIO_MS,
  },
  async () => {
    const cluster: Named = { namespace: 'asleep', name: 'etcd' };
    await place.namespace(cluster.namespace);
    await place.create(cluster, {});
    await place.wakeUntilReady(cluster);
    const { members = [] } = await place.status(cluster);
    const ids = members.map(({ id }) => id);
    await place.edit(cluster, { replicas: 0 });
    await place.wakeUntil(
      cluster,
      'its pods to go',
      async () => (await place.pods(cluster)).length === 0,
    );
    expect(await place.condition(cluster, 'Ready')).toMatch(/^False Hibernating/);
    await place.edit(cluster, { replicas: 3 });
    await place.wakeUntilReady(cluster);
    expect((await place.status(cluster)).members?.map(({ id }) => id)).toEqual(ids);
    for (const { metadata } of await place.claims(cluster)) {
      await place.loseClaim(cluster, metadata.name);
    }
    await place.wakeUntil(cluster, 'DataGone', async () =>
      (await place.condition(cluster, 'Degraded')).startsWith('True DataGone'),
    );
    expect(await place.claims(cluster)).toEqual([]);
  },
);

test(
  'a wiped seed is not born again',
  {
    timeout: SCENARIO_MS,
  },
  async () => {
    const cluster: Named = { namespace: 'wiped', name: 'etcd' };
    await place.namespace(cluster.namespace);
    await place.create(cluster, { replicas: 1 });
    await place.wakeUntilReady(cluster);
    const [podUid] = await place.podUids(cluster);
    const client = await place.client(cluster);
    const answers = (): Promise<boolean> =>
      client.keys.get('a').then(
        () => true,
        () => false,
      );
    expect(await answers()).toBe(true);
    await place.wipe(cluster, 'etcd-0');
    await place.wakeUntil(
      cluster,
      'it to answer, or to end again and again',
      async () => place.starts(cluster, 'etcd-0') > 3 || answers(),
    );
    expect(await answers()).toBe(false);
    expect(await place.podUids(cluster)).toEqual([podUid]);
    expect(await place.condition(cluster, 'Ready')).not.toMatch(/^True/);
    await client.close();
  },
);
