// The whole life of an etcd in real pods, with writers and readers at work at every moment: what
// they saw is checked to be the history of one store. Each life leaves the cluster Ready to the
// next.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcdImage } from '../../../knative/try/cluster/functions/etcd.ts';
import type { EtcdClusterStatus } from '../../../shared/api/etcd-cluster.ts';
import { SCENARIO_MS } from '../../integration/etcd-cluster/etcd-scene.ts';
import { timed } from '../support/timed.ts';
import { age, allShown } from './certificates.ts';
import { takesRoom } from '../support/pods.ts';
import { EtcdPodPlace } from './pod-place.ts';
import { EtcdTraffic } from '../../builders/etcd-traffic.ts';

let place: EtcdPodPlace;
let traffic: EtcdTraffic;
const cluster = { namespace: 'etcd-lives', name: 'etcd' };
const THREE_LINES = { storage: { size: '10Gi' } };
/** Where pods are that take room of two nodes while the members are placed. */
const BUSY = 'etcd-lives-busy';
const settings = { timeout: SCENARIO_MS };

beforeAll(async () => {
  place = await EtcdPodPlace.open();
  await place.namespace(cluster.namespace);
  await place.namespace(BUSY);
  await place.kubectl.apply(...['node-2', 'node-3'].map((node) => takesRoom(node, BUSY)));
  await place.create(cluster, THREE_LINES);
  await timed('three lines to Ready', () => place.wakeUntilReady(cluster));
  await place.kubectl.run('delete', 'pods', '--all', `-n=${BUSY}`);
}, SCENARIO_MS);

afterAll(async () => {
  await place?.close();
}, SCENARIO_MS);

type EtcdMember = NonNullable<EtcdClusterStatus['members']>[number];

/** With writers and readers at work: what they saw is checked in the end. */
const underTraffic = async (life: string, work: () => Promise<void>): Promise<void> =>
  EtcdTraffic.during(life, await place.access(cluster), async (started) => {
    traffic = started;
    await work();
  });

const members = async (): Promise<readonly EtcdMember[]> =>
  (await place.status(cluster)).members ?? [];

const leader = async (): Promise<string> =>
  (await members()).find(({ role }) => role === 'Leader')?.name ?? '';

/** Done to the members while the traffic goes on. */
async function endured(change: string, work: () => Promise<unknown>): Promise<void> {
  await timed(change, async () => {
    await work();
    await place.wakeUntilReady(cluster);
  });
  await traffic.untilItFlows();
}

const claimNames = async (): Promise<readonly string[]> =>
  (await place.claims(cluster)).map(({ metadata }) => metadata.name).toSorted();

test(
  'three lines are three members on three nodes, two of which have less room',
  settings,
  async () => {
    const { voters, version } = await place.status(cluster);
    expect({ voters, version }).toEqual({ voters: '3/3', version: '3.6.16' });
    const names = ['etcd-0', 'etcd-1', 'etcd-2'];
    const nodes = await Promise.all(names.map((name) => place.nodeOf(cluster, name)));
    expect(nodes.toSorted()).toEqual(['node-1', 'node-2', 'node-3']);
  },
);

test('kubectl scales to five and back to three', settings, ({ task }) =>
  underTraffic(task.name, async () => {
    await endured('three to five', () => place.scale(cluster, 5));
    expect((await place.status(cluster)).voters).toBe('5/5');
    await endured('five to three', () => place.scale(cluster, 3));
    expect((await place.status(cluster)).voters).toBe('3/3');
    // Only members that go lose their claims.
    expect(await claimNames()).toEqual(['data-etcd-0', 'data-etcd-1', 'data-etcd-2']);
  }),
);

test('the pod of the leader is deleted', settings, ({ task }) =>
  underTraffic(task.name, async () => {
    const led = await leader();
    const { uid } = (await place.pod(cluster, led)).metadata;
    await endured('leader deleted', () => place.deletePod(cluster, led));
    expect((await place.pod(cluster, led)).metadata.uid).not.toBe(uid);
  }),
);

test(
  'kubectl drains the node of the leader, and the budget keeps a second one',
  settings,
  ({ task }) =>
    underTraffic(task.name, async () => {
      const led = await leader();
      const [first = ''] = ['etcd-0', 'etcd-1', 'etcd-2'].filter((name) => name !== led);
      const nodes = [await place.nodeOf(cluster, led), await place.nodeOf(cluster, first)] as const;
      const drain = (node: string, ...more: readonly string[]): Promise<string> =>
        place.kubectl.run('drain', node, '--pod-selector=ballast.dev/etcd-cluster=etcd', ...more);
      await endured('node drained', async () => {
        try {
          await drain(nodes[0]);
          // Its volume is on that node, and so its member waits there.
          await expect(drain(nodes[1], '--timeout=3s')).rejects.toThrow('disruption budget');
          await traffic.untilItFlows();
        } finally {
          for (const node of nodes) await place.kubectl.run('uncordon', node);
        }
      });
    }),
);

test('the node of the leader loses its power, and gets it back', settings, ({ task }) =>
  underTraffic(task.name, async () => {
    const led = await leader();
    const node = place.nodes.node(await place.nodeOf(cluster, led));
    const { uid } = (await place.pod(cluster, led)).metadata;
    await endured('node off and on', async () => {
      await node.kill();
      await traffic.untilItFlows();
      await place.wakeUntil(cluster, 'the loss to be seen', async () =>
        (await place.condition(cluster, 'Ready')).startsWith('False'),
      );
      await node.start();
    });
    expect((await place.pod(cluster, led)).metadata.uid).toBe(uid);
  }),
);

test('a member whose volume is lost is replaced', settings, ({ task }) =>
  underTraffic(task.name, async () => {
    const before = await members();
    const isReplaced = (now: readonly EtcdMember[] = []): boolean => {
      const id = now.find(({ name }) => name === 'etcd-1')?.id;
      return id !== undefined && !before.some((one) => one.id === id);
    };
    await endured('volume lost', async () => {
      await place.loseVolume(cluster, 'etcd-1');
      await place.wakeUntil(cluster, 'a member to be replaced', (status) =>
        isReplaced(status.members),
      );
    });
    expect((await place.status(cluster)).voters).toBe('3/3');
  }),
);

test('certificates are renewed, and no pod is made anew', settings, ({ task }) =>
  underTraffic(task.name, async () => {
    const pods = await place.podUids(cluster);
    const before = await allShown(place, cluster);
    await endured('certificates renewed', async () => {
      await place.edit(cluster, { paused: true });
      await age(place, cluster, 'clients');
      await age(place, cluster, 'peers');
      await place.edit(cluster, { paused: false });
      await place.wakeUntil(cluster, 'every member to show another certificate', async () =>
        (await allShown(place, cluster)).every((one) => !before.includes(one)),
      );
    });
    expect(await place.podUids(cluster)).toEqual(pods);
  }),
);

test('deleted and made again it has its data', settings, ({ task }) =>
  underTraffic(task.name, async () => {
    const { clusterId } = await place.status(cluster);
    await endured('deleted and made again', async () => {
      await place.delete(cluster);
      await place.create(cluster, THREE_LINES);
      await place.wakeUntilReady(cluster);
      // The Service has another address, and the certificates another authority.
      traffic.reopen(await place.access(cluster));
    });
    expect((await place.status(cluster)).clusterId).toBe(clusterId);
  }),
);

test('an image of the next minor version comes to one member at a time', settings, ({ task }) =>
  underTraffic(task.name, async () => {
    await endured('3.6.16 to 3.7.3', () => place.edit(cluster, { image: etcdImage('etcd-next') }));
    expect((await members()).map(({ version }) => version)).toEqual(['3.7.3', '3.7.3', '3.7.3']);
  }),
);

test('volumes grow, and no pod is made anew', settings, ({ task }) =>
  underTraffic(task.name, async () => {
    const pods = await place.podUids(cluster);
    await endured('10Gi to 20Gi', async () => {
      await place.edit(cluster, { storage: { size: '20Gi' } });
      await place.wakeUntil(cluster, 'the volumes to grow', async () =>
        (await place.volumeSizes(cluster)).every((size) => size === '20Gi'),
      );
    });
    expect(await place.podUids(cluster)).toEqual(pods);
  }),
);

test('a member that refuses its data is replaced, and its claim is kept', settings, ({ task }) =>
  underTraffic(task.name, async () => {
    const { namespace } = cluster;
    await endured('data refused', async () => {
      await place.spoilLog(cluster, 'etcd-1');
      await place.wakeUntil(cluster, 'a member to be replaced', ({ refused, leaving }) =>
        Promise.resolve(refused !== undefined && leaving === undefined),
      );
    });
    const { refused, voters } = await place.status(cluster);
    expect({ voters, claim: refused?.claim, why: refused?.why }).toEqual({
      voters: '3/3',
      claim: 'data-etcd-1',
      why: 'its log on the disk is damaged',
    });
    expect(await claimNames()).toContain('data-etcd-1');
    await place.kubectl.run('delete', 'pvc', 'data-etcd-1', `-n=${namespace}`);
  }),
);

test('when all claims are gone it says so, and does not come up empty', settings, async () => {
  for (const name of await claimNames()) await place.loseClaim(cluster, name);
  await place.wakeUntil(cluster, 'DataGone', async () =>
    (await place.condition(cluster, 'Degraded')).startsWith('True DataGone'),
  );
  expect(await claimNames()).toEqual([]);
});
