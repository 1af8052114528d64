// The life of EtcdClusters on real etcds: birth, more members and fewer, another spec, a member
// that is lost, sleep, and coming back.
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { EtcdTraffic } from '../../builders/etcd-traffic.ts';
import { EtcdPlace } from './etcd-place.ts';
import { type Named, SCENARIO_MS } from './etcd-scene.ts';

let place: EtcdPlace;

beforeAll(async () => {
  place = await EtcdPlace.start();
}, SCENARIO_MS);

afterAll(async () => {
  await place?.stop();
});

const IN_MEMORY = {
  storage: { medium: 'Memory', size: '1Gi' },
  quota: '256Mi',
  resources: { limits: { memory: '1280Mi' } },
  tls: { clients: { mode: 'None' } },
};

async function idsOf(cluster: Named): Promise<readonly string[]> {
  const { members = [] } = await place.status(cluster);
  return members.map(({ id = '' }) => id);
}

/** The node of its pod has no power for a moment; then somebody deletes the pod. */
async function loseMemory(cluster: Named, peer: string): Promise<void> {
  const members = await idsOf(cluster);
  await place.wipe(cluster, peer);
  await place.wakeUntil(cluster, 'it to end again and again', () =>
    Promise.resolve(place.starts(cluster, peer) > 3),
  );
  expect(await idsOf(cluster)).toEqual(members);
  await place.deletePod(cluster, `${peer}-0`);
  await place.wakeUntil(cluster, 'a member to be replaced', (status) => {
    const now = status.members?.find(({ name }) => name === peer)?.id;
    return now !== undefined && !members.includes(now);
  });
  await place.wakeUntilReady(cluster);
}

async function loseAll(cluster: Named): Promise<void> {
  for (const { metadata } of await place.pods(cluster)) {
    await place.deletePod(cluster, metadata.name);
  }
  await place.wakeUntil(cluster, 'DataGone', async () =>
    (await place.condition(cluster, 'Degraded')).startsWith('True DataGone'),
  );
  const client = await place.client(cluster);
  await expect(client.members.list({ isLinearizable: false })).rejects.toThrow(
    'etcd cannot be reached',
  );
  await client.close();
}

// A birth is dear: each test leaves the cluster whole, and the next one goes on with it.
describe('one cluster', () => {
  const cluster: Named = { namespace: 'three-lines', name: 'etcd' };

  afterAll(() => place.endAll());

  test(
    'three lines become three members with certificates, and what was written stays',
    {
      timeout: SCENARIO_MS,
    },
    async () => {
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
      expect((await place.claims(cluster)).map(({ metadata }) => metadata.name).toSorted()).toEqual(
        ['data-etcd-0', 'data-etcd-1', 'data-etcd-2'],
      );
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
      expect({ clusterId: now.clusterId, voters: now.voters }).toEqual({
        clusterId,
        voters: '3/3',
      });
    },
  );

  test(
    'it hibernates and wakes up whole, and does not come up empty when its data is gone',
    {
      timeout: SCENARIO_MS,
    },
    async () => {
      const { members = [] } = await place.status(cluster);
      const ids = members.map(({ id }) => id);
      await place.edit(cluster, { replicas: 0 });
      await place.wakeUntil(
        cluster,
        'its pods to go',
        async () => (await place.pods(cluster)).length === 0,
      );
      expect(await place.condition(cluster, 'Ready')).toMatch(/^False Hibernating/);
      // With the data of all at hand, nobody needs what somebody has deleted.
      await place.deleteSecret(cluster, 'etcd-starts');
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
});

describe('clusters of their own', () => {
  afterEach(() => place.endAll());

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

  test(
    'a learner that is wiped before it votes is replaced, and all vote in the end',
    {
      timeout: SCENARIO_MS,
    },
    async () => {
      const cluster: Named = { namespace: 'learning', name: 'etcd' };
      await place.namespace(cluster.namespace);
      await place.create(cluster, { replicas: 5 });
      const roleOf = ({ members = [] }: Awaited<ReturnType<typeof place.status>>, peer: string) =>
        members.find(({ name }) => name === peer)?.role;
      await place.wakeUntil(cluster, 'a learner', (now) => roleOf(now, 'etcd-1') === 'Learner');
      const ids = await idsOf(cluster);
      await place.wipe(cluster, 'etcd-1');
      await place.wakeUntilReady(cluster);
      const { clusterId, voters, members = [] } = await place.status(cluster);
      expect(voters).toBe('5/5');
      expect(members.find(({ name }) => name === 'etcd-1')?.id).not.toBe(ids[1]);
      expect(members[0]?.id).toBe(ids[0]);
      expect(clusterId).toBeDefined();
    },
  );

  test(
    'in memory a member that lost its data is replaced, and so are those with another image',
    {
      // Each of six members joins and leaves in its turn.
      timeout: 2 * SCENARIO_MS,
    },
    async () => {
      const cluster: Named = { namespace: 'in-memory', name: 'etcd' };
      await place.namespace(cluster.namespace);
      await place.create(cluster, IN_MEMORY);
      await place.wakeUntilReady(cluster);
      expect(await place.claims(cluster)).toEqual([]);
      const { clusterId } = await place.status(cluster);
      const traffic = EtcdTraffic.start(await place.access(cluster), 'in-memory');
      onTestFinished(() => traffic.close());
      await loseMemory(cluster, 'etcd-0');
      const before = await idsOf(cluster);
      await place.edit(cluster, { image: 'quay.io/coreos/etcd:v3.7.3' });
      await place.wakeUntilReady(cluster);
      const { result, acknowledged } = await traffic.stop();
      expect(result).toBe('linearizable');
      expect(acknowledged).toBeGreaterThan(100);
      const now = await place.status(cluster);
      expect([now.clusterId, now.version, now.voters]).toEqual([clusterId, '3.7.3', '3/3']);
      expect((await idsOf(cluster)).filter((id) => before.includes(id))).toEqual([]);
      await loseAll(cluster);
    },
  );
});
