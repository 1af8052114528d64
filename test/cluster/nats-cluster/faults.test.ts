// What happens to NATS in real pods against its owner's wish, with publishers and a durable
// consumer on a stream of three replicas all the while: nothing that was acknowledged is lost.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { reported } from '../../integration/nats-cluster/report.ts';
import {
  endure,
  killAll,
  replaceLostVolume,
  startTraffic,
  untilTrafficFlows,
} from '../../integration/nats-cluster/scenarios.ts';
import { SCENARIO_MS } from '../../integration/nats-cluster/scene.ts';
import type { Traffic } from '../../integration/nats-cluster/traffic.ts';
import { PodPlace } from './pod-place.ts';
import { timed } from './timed.ts';

let place: PodPlace;
let ours: RunningFunction;
let traffic: Traffic;
const cluster = { namespace: 'shop', name: 'nats' };
const settings = { timeout: SCENARIO_MS };
const stage = () => ({ place, ours, cluster });

beforeAll(async () => {
  place = await PodPlace.start();
  await place.namespace('shop');
  ours = await place.startFunction({ LOG_LEVEL: process.env['DEBUG_LOG'] ?? 'silent' });
  await place.create(cluster, { lameDuck: { graceSeconds: 1 } });
  await place.tickUntilReady(ours, cluster);
}, SCENARIO_MS);

afterAll(async () => {
  await place?.stop();
}, SCENARIO_MS);

beforeEach(async ({ task }) => {
  const stream = `S${task.id.replaceAll(/\W/g, '')}`;
  traffic = await startTraffic({ place, cluster }, { stream });
}, SCENARIO_MS);

afterEach(async ({ task }) => {
  reported(task.name, await traffic.stop());
}, SCENARIO_MS);

const uidOf = async (server: string): Promise<string | undefined> =>
  (await place.pods(cluster)).find(({ metadata }) => metadata.name === server)?.metadata.uid;

/** Of the containers in the pods that there are. */
const restarts = async (): Promise<readonly number[]> =>
  (await place.pods(cluster)).map(({ status }) =>
    Number(Object(Object(status).containerStatuses?.[0]).restartCount),
  );

test('a pod that is deleted with a second of grace is made anew', settings, async () => {
  const before = await uidOf('nats-1');
  const done = await timed('pod deleted to Ready', () =>
    endure(stage(), traffic, () => place.deletePod(cluster, 'nats-1')),
  );
  expect(done).toEqual([]);
  expect(await uidOf('nats-1')).not.toBe(before);
});

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

test('a node loses its power, and gets it back', settings, async () => {
  const node = place.nodes.node(await place.nodeOf(cluster, 'nats-1'));
  const done = await timed('node off, on, and back to Ready', () =>
    endure(stage(), traffic, async () => {
      await node.kill();
      await untilTrafficFlows(traffic);
      await place.tickUntil(ours, cluster, 'the loss to be seen', async () =>
        (await place.condition(cluster, 'Ready')).startsWith('False'),
      );
      await node.start();
    }),
  );
  expect(done).toEqual([]);
});

test('a lost volume is replaced once, and its streams come back', settings, async () => {
  const work = () => replaceLostVolume(stage(), traffic);
  expect(await timed('volume lost to Ready', work)).toHaveLength(1);
});
