// What NATS in real pods goes through, at its owner's wish and against it, with publishers and a
// durable consumer on a stream of three replicas all the while: nothing that was acknowledged is
// lost. Each scenario leaves the cluster Ready to the next.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { createStorageClass } from '../../builders/storage-class.ts';
import { reported } from '../../integration/nats-cluster/report.ts';
import { OLD_IMAGE, SCENARIO_MS } from '../../integration/nats-cluster/scene.ts';
import { type Traffic, untilTrafficFlows } from '../../integration/nats-cluster/traffic.ts';
import { bringCertificate, bringUnfitCertificate } from './certificates.ts';
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
import { callsForHelp, fourReadyMs, makeStuck, removeStuck, STUCK_REASONS } from './stuck.ts';
import { timed } from './timed.ts';

let place: PodPlace;
let ours: RunningFunction;
let traffic: Traffic;
const cluster = { namespace: 'shop', name: 'nats' };
const threeLines = { namespace: 'shop', name: 'lines' };
/** Two servers more and two less are records, a StatefulSet, moves, peers and claims. */
const SCALE_WRITES_MIN = 8;
/** Of a machine that others use too; less than what the three of them wait for in a request. */
const NOISE_MS = 5_000;
const settings = { timeout: SCENARIO_MS };
const stage = () => ({ place, ours, cluster });

beforeAll(async () => {
  place = await timed('three nodes', () => PodPlace.start());
  await place.namespace('shop');
  ours = await place.startFunction();
  await place.create(cluster, { image: OLD_IMAGE, lameDuck: { graceSeconds: 1 } });
  await timed('2.14.9 to Ready', () => place.tickUntilReady(ours, cluster));
}, SCENARIO_MS);

afterAll(async () => {
  await place?.stop();
}, SCENARIO_MS);

beforeEach(async ({ task }) => {
  const stream = `S${task.id.replaceAll(/\W/g, '')}`;
  traffic = await place.startTraffic(cluster, { stream });
}, SCENARIO_MS);

afterEach(async ({ task }) => {
  reported(task.name, await traffic.stop());
}, SCENARIO_MS);

test('three lines of spec become three servers on three nodes', settings, async () => {
  await place.create(threeLines, { jetStream: { fileStorage: { size: '1Gi' } } });
  await timed('three lines to Ready', () => place.tickUntilReady(ours, threeLines));
  const { servers = [], ...status } = await place.status(threeLines);
  expect(status).toMatchObject({ ready: '3/3', replicas: 3, version: '2.15.2' });
  expect(servers.filter(({ role }) => role === 'MetaLeader')).toHaveLength(1);
  expect(servers.every(({ upToDate }) => upToDate)).toBe(true);
  const names = ['lines-0', 'lines-1', 'lines-2'];
  const nodes = await Promise.all(names.map((server) => place.nodeOf(threeLines, server)));
  expect(nodes.toSorted()).toEqual(['node-1', 'node-2', 'node-3']);
  await place.delete(threeLines);
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

test(
  'a certificate of the user is taken over without a restart, if it fits',
  settings,
  async () => {
    const spec = { lameDuck: { graceSeconds: 1 }, tls: { clients: {}, routes: {} } };
    const secure = { place, ours, cluster: { namespace: 'shop', name: 'secure' } };
    await place.create(secure.cluster, spec);
    await place.tickUntilReady(ours, secure.cluster);
    const { before, after } = await timed('certificate shown', () => bringCertificate(secure));
    expect(after).toHaveLength(3);
    expect(after.filter((one) => before.includes(one))).toEqual([]);
    const unfit = await bringUnfitCertificate(secure);
    expect(unfit).toEqual({ before: after, after });
    await place.delete(secure.cluster);
  },
);

const uidOf = async (server: string): Promise<string | undefined> =>
  (await place.pods(cluster)).find(({ metadata }) => metadata.name === server)?.metadata.uid;

/** Of the containers in the pods that there are. */
const restarts = async (): Promise<readonly number[]> =>
  (await place.pods(cluster)).map(({ status }) =>
    Number(Object(Object(status).containerStatuses?.[0]).restartCount),
  );

test('pods that are deleted without grace, one after the other', settings, async () => {
  for (const server of ['nats-1', 'nats-2', 'nats-0']) {
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

test(
  'a provisioner that refuses the access mode is heard, and another mode is set',
  settings,
  async () => {
    const poor = { namespace: 'shop', name: 'poor' };
    const claimsOfPoor = ['-n=shop', '-l=ballast.dev/nats-cluster=poor'];
    await createStorageClass(place.kube, 'poor', false);
    const fileStorage = { size: '1Gi', storageClassName: 'poor' };
    await place.create(poor, { jetStream: { fileStorage } });
    const haveClaims = async () => (await place.claims(poor)).length === 3;
    await place.tickUntil(ours, poor, 'its claims', haveClaims);
    await place.sayOfClaim(poor, 'data-poor-0', 'access mode is not supported');
    const isHeard = async () =>
      (await place.condition(poor, 'Degraded')).startsWith('True ClaimPending');
    await place.tickUntil(ours, poor, 'the refusal', isHeard);
    expect(await place.condition(poor, 'Degraded')).toContain(
      'claim data-poor-0 (ReadWriteOncePod) of storage class poor is Pending: access mode is not',
    );
    // As it is told there.
    await place.remove(poor);
    await place.kubectl.run('delete', 'pvc', ...claimsOfPoor);
    await place.create(poor, {
      lameDuck: { graceSeconds: 1 },
      jetStream: { fileStorage: { size: '1Gi', accessMode: 'ReadWriteOnce' } },
    });
    await place.tickUntilReady(ours, poor);
    const modes = '-o=jsonpath={.items[*].spec.accessModes}';
    const found = await place.kubectl.run('get', 'pvc', ...claimsOfPoor, modes);
    expect(found).toBe('["ReadWriteOnce"] ["ReadWriteOnce"] ["ReadWriteOnce"]');
    await place.delete(poor);
  },
);

test(
  'what keeps a pod from running is said at once, calls for help in time, and holds up nobody',
  settings,
  async () => {
    const aloneMs = await fourReadyMs(stage(), 'alone');
    await makeStuck(stage());
    const besideMs = await fourReadyMs(stage(), 'beside');
    process.stdout.write(`four Ready: ${aloneMs} ms, beside three that are stuck ${besideMs} ms\n`);
    expect(besideMs).toBeLessThan(aloneMs * 1.5 + NOISE_MS);
    const warnings = await callsForHelp(stage());
    for (const [index, reason] of STUCK_REASONS.entries()) {
      expect(warnings[index]?.split(' ')).toContain(reason);
    }
    await removeStuck(stage());
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
