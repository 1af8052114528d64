// NATS in real pods goes through changes of its spec and through faults, with publishers and a
// durable consumer on a stream of three replicas all the while: nothing that was acknowledged is
// lost. Each scenario leaves the cluster Ready to the next.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { reported } from '../../integration/nats-cluster/report.ts';
import { OLD_IMAGE, SCENARIO_MS } from '../../integration/nats-cluster/scene.ts';
import { type Traffic, untilTrafficFlows } from '../../integration/nats-cluster/traffic.ts';
import { mortalNatsCluster } from './mortal.ts';
import { PodPlace } from './pod-place.ts';
import {
  endure,
  killAll,
  reloadAccounts,
  replaceLostVolume,
  rollOutImage,
  scaleBackToThree,
  scaleToFive,
} from './scenarios.ts';
import { timed } from '../support/timed.ts';

let place: PodPlace;
let ours: RunningFunction;
let traffic: Traffic;
const cluster = { namespace: 'shop', name: 'nats' };
/** Two servers more and two less are records, a StatefulSet, moves, peers and claims. */
const SCALE_WRITES_MIN = 8;
const settings = { timeout: SCENARIO_MS };
const stage = () => ({ place, ours, cluster });

beforeAll(async () => {
  place = await PodPlace.open();
  await place.namespace('shop');
  ours = await place.startFunction();
  const spec = { image: OLD_IMAGE, lameDuck: { graceSeconds: 1 }, tls: { routes: {} } };
  await place.create(cluster, spec);
  await timed('2.14.9 to Ready', () => place.wakeUntilReady(ours, cluster));
}, SCENARIO_MS);

afterAll(async () => {
  await place?.close();
}, SCENARIO_MS);

beforeEach(async ({ task }) => {
  const stream = `S${task.id.replaceAll(/\W/g, '')}`;
  traffic = await place.startTraffic(cluster, { stream });
}, SCENARIO_MS);

afterEach(async ({ task }) => {
  reported(task.name, await traffic.stop());
}, SCENARIO_MS);

test('three servers come up on three nodes', settings, async () => {
  const { servers = [], ...status } = await place.status(cluster);
  expect(status).toMatchObject({ ready: '3/3', replicas: 3, version: '2.14.9' });
  expect(servers.filter(({ role }) => role === 'MetaLeader')).toHaveLength(1);
  expect(servers.every(({ upToDate }) => upToDate)).toBe(true);
  const names = ['nats-0', 'nats-1', 'nats-2'];
  const nodes = await Promise.all(names.map((server) => place.nodeOf(cluster, server)));
  expect(nodes.toSorted()).toEqual(['node-1', 'node-2', 'node-3']);
});

test('an image is rolled out one server at a time, the meta leader last', settings, async () => {
  const versions = await timed('image rolled out', () => rollOutImage(stage()));
  expect(versions).toEqual(['2.15.2', '2.15.2', '2.15.2']);
});

test(
  'kubectl scales to five and back, though the function is killed at its writes all the while',
  settings,
  async () => {
    const { definition, lastWords } = mortalNatsCluster();
    const mortal = { ...stage(), ours: await place.startFunction({ definition }) };
    await timed('three to five', () => scaleToFive(mortal));
    const claims = await timed('five to three', () => scaleBackToThree(mortal, 2));
    // Only servers that go lose their claims.
    expect(claims).toEqual(['data-nats-0', 'data-nats-1', 'data-nats-2']);
    process.stdout.write(`killed: ${lastWords.join(', ')}\n`);
    expect(lastWords.length).toBeGreaterThan(SCALE_WRITES_MIN);
  },
);

test('a changed account is reloaded, and no pod is made anew', settings, async () => {
  const { before, after } = await timed('accounts reloaded', () => reloadAccounts(stage()));
  expect(after).toEqual(before);
});

const uidOf = async (server: string): Promise<string | undefined> =>
  (await place.pods(cluster)).find(({ metadata }) => metadata.name === server)?.metadata.uid;

/** Restart counts of the containers in the present pods. */
const restarts = async (): Promise<readonly number[]> =>
  (await place.pods(cluster)).map(({ status }) =>
    Number(Object(Object(status).containerStatuses?.[0]).restartCount),
  );

test('pods that are deleted without grace, one after the other', settings, async () => {
  // The next test has nats-1.
  for (const server of ['nats-2', 'nats-0']) {
    const before = await uidOf(server);
    const done = await timed(`${server} deleted by force to Ready`, () =>
      endure(stage(), traffic, () => place.deleteByForce(cluster, server)),
    );
    expect(done).toEqual([]);
    expect(await uidOf(server)).not.toBe(before);
  }
});

test(
  'a server that cannot be ended keeps its volume, though its pod is forgotten',
  settings,
  async () => {
    const before = (await uidOf('nats-1')) ?? '';
    let refusal: unknown;
    await traffic.leadBy('nats-1');
    const done = await timed('nats-1 deleted by force, its runtime hanging, to Ready', () =>
      endure(stage(), traffic, async () => {
        const goOn = await place.hangRuntime(cluster, 'nats-1');
        try {
          await place.deleteByForce(cluster, 'nats-1');
          refusal = await place.refusalAfter(cluster, 'nats-1', before);
          await untilTrafficFlows(traffic);
        } finally {
          goOn();
        }
      }),
    );
    expect(refusal).toContain('ReadWriteOncePod');
    expect(done).toEqual([]);
    await traffic.leadBy('nats-1');
  },
);

test('all servers are killed at once', settings, async () => {
  const before = await restarts();
  const work = () => endure(stage(), traffic, () => killAll(stage()));
  expect(await timed('all killed to Ready', work)).toEqual([]);
  expect(await restarts()).toEqual(before.map((count) => count + 1));
});

test('kubectl drains a node, and the budget keeps a second one', settings, async () => {
  const [first, second] = [
    await place.nodeOf(cluster, 'nats-0'),
    await place.nodeOf(cluster, 'nats-1'),
  ];
  const drain = (node: string, ...more: readonly string[]): Promise<string> =>
    place.kubectl.run('drain', node, '--ignore-daemonsets', '--delete-emptydir-data', ...more);
  const done = await timed('node drained, and back to Ready', () =>
    endure(stage(), traffic, async () => {
      try {
        await drain(first);
        // Its volume is on that node, and so nats-0 waits there.
        await expect(drain(second, '--timeout=3s')).rejects.toThrow('disruption budget');
        await untilTrafficFlows(traffic);
      } finally {
        await place.kubectl.run('uncordon', first);
        await place.kubectl.run('uncordon', second);
      }
    }),
  );
  expect(done).toEqual([]);
});

test('a node loses its power with its pods, and gets both back', settings, async () => {
  const node = place.nodes.node(await place.nodeOf(cluster, 'nats-1'));
  const [uid, before] = [await uidOf('nats-1'), await restarts()];
  const done = await timed('node off, on, and back to Ready', () =>
    endure(stage(), traffic, async () => {
      await node.kill();
      await expect(place.healthOf(cluster, 'nats-1')).rejects.toThrow('fetch failed');
      await untilTrafficFlows(traffic);
      await place.wakeUntil(ours, cluster, 'the loss to be seen', async () =>
        (await place.condition(cluster, 'Ready')).startsWith('False'),
      );
      await node.start();
    }),
  );
  expect(done).toEqual([]);
  expect(await uidOf('nats-1')).toBe(uid);
  expect(await restarts()).toEqual(before.map((count, index) => count + (index === 1 ? 1 : 0)));
});

test('a node whose kubelet is stopped keeps its pods', settings, async () => {
  const node = place.nodes.node(await place.nodeOf(cluster, 'nats-2'));
  const before = await restarts();
  const done = await timed('kubelet off, on, and Ready', () =>
    endure(stage(), traffic, async () => {
      await node.stop();
      expect(await place.healthOf(cluster, 'nats-2')).toBe(200);
      await untilTrafficFlows(traffic);
      await node.start();
    }),
  );
  expect(done).toEqual([]);
  expect(await restarts()).toEqual(before);
});

test('a lost volume is replaced once, and its streams come back', settings, async () => {
  const work = () => replaceLostVolume(stage(), traffic);
  expect(await timed('volume lost to Ready', work)).toHaveLength(1);
});
