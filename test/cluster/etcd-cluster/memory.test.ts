// An etcd whose members have their data in the memory of real pods, with writers and readers at
// work: a container that is killed goes on with its data, and a pod that is deleted takes it along.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EtcdTraffic } from '../../builders/etcd-traffic.ts';
import { SCENARIO_MS } from '../../integration/etcd-cluster/etcd-scene.ts';
import { processesOf } from '../support/pod-processes.ts';
import { timed } from '../support/timed.ts';
import { EtcdPodPlace } from './pod-place.ts';

const cluster = { namespace: 'etcd-in-memory', name: 'etcd' };
const IN_MEMORY = {
  storage: { medium: 'Memory', size: '1Gi' },
  quota: '256Mi',
  resources: { limits: { memory: '1280Mi' } },
};
const settings = { timeout: SCENARIO_MS };

let place: EtcdPodPlace;

beforeAll(async () => {
  place = await EtcdPodPlace.open();
  await place.namespace(cluster.namespace);
  await place.create(cluster, IN_MEMORY);
  await timed('in memory, to Ready', () => place.wakeUntilReady(cluster));
}, SCENARIO_MS);

afterAll(async () => {
  await place?.endAll();
  await place?.close();
}, SCENARIO_MS);

/** Done to a cluster that is written and read, until it is Ready again; no write may be lost. */
const endured = async (what: string, work: () => Promise<void>): Promise<void> =>
  EtcdTraffic.during(what, await place.access(cluster), async () => {
    await timed(what, async () => {
      await work();
      await place.wakeUntilReady(cluster);
    });
  });

async function idsOf(): Promise<ReadonlyMap<string, string>> {
  const { members = [] } = await place.status(cluster);
  return new Map(members.map(({ name, id = '' }) => [name, id]));
}

async function processOf(member: string): Promise<number> {
  const { uid } = (await place.pod(cluster, member)).metadata;
  const [pid, ...others] = await processesOf('etcd', uid);
  return pid === undefined || others.length > 0 ? 0 : pid;
}

test('its containers see memory and no claim', settings, async () => {
  const mounts = await readFile(`/proc/${await processOf('etcd-0')}/mounts`, 'utf8');
  expect(mounts).toMatch(/^tmpfs \/var\/lib\/etcd tmpfs rw,.*size=1048576k/m);
  expect(await place.claims(cluster)).toEqual([]);
});

test('a container that is killed finds its data, and its member is who it was', settings, () =>
  endured('a container is killed', async () => {
    const ids = await idsOf();
    const pid = await processOf('etcd-1');
    process.kill(pid, 'SIGKILL');
    await place.wakeUntil(cluster, 'another process', async () => {
      const now = await processOf('etcd-1');
      return now !== 0 && now !== pid;
    });
    await place.wakeUntilReady(cluster);
    expect(await idsOf()).toEqual(ids);
  }),
);

test('the pod of the leader is deleted, and another member comes for its own', settings, () =>
  endured('the leader loses its memory', async () => {
    const { members = [], voters } = await place.status(cluster);
    expect(voters).toBe('3/3');
    const led = members.find(({ role }) => role === 'Leader');
    if (led === undefined) throw new Error('nobody leads');
    await place.deletePod(cluster, led.name);
    await place.wakeUntil(cluster, 'it to be replaced', async () => {
      const ids = [...(await idsOf()).values()];
      return ids.length === 3 && !ids.includes(led.id ?? '');
    });
    await place.wakeUntilReady(cluster);
    expect((await place.status(cluster)).voters).toBe('3/3');
  }),
);
