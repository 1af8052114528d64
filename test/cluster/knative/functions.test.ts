// Our functions as Knative runs them: the feed is right after whatever Knative loses, answers are
// what Knative's own parts understand, and kn shows all of it as ready.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { knativeNames } from '../../../knative/tools/build/function-names.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { NATS_CLUSTER_LEASE } from '../../../shared/api/nats-cluster.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { LEASES } from '../../../shared/kube/sweep-lease.ts';
import { PAUSE_IMAGE } from '../../../knative/try/cluster/images.ts';
import { binaryEvent, eventually } from './support/rig.ts';
import { ON_PAPER, PaperNode } from './support/paper-node.ts';
import { OURS, ShownFeed } from './support/shown-feed.ts';
import { type KnativeWorld, NAMESPACES, openWorld, OPEN_WITHIN_MS } from './support/world.ts';

const NAMESPACE = NAMESPACES.churn;
const PODS = 6;

let world: KnativeWorld;
let feed: ShownFeed;
let paper: PaperNode;
let sweptAt: string;

beforeAll(async () => {
  world = await openWorld(NAMESPACE);
  sweptAt = await lastSweep();
  feed = await ShownFeed.open(world.rig);
  paper = await PaperNode.open(world.rig.kube);
  await world.rig.apply(web(PODS));
  await allRun();
}, OPEN_WITHIN_MS);

afterAll(async () => {
  await world?.rig.apply(web(0));
  await paper?.close();
  await feed?.close();
  await world?.close();
});

/** In the feed; the cron that sweeps is looked at in a test of its own. */
const differences = (): Promise<readonly string[]> =>
  feed.differences(() => world.rig.tick('metadata'));

const web = (replicas: number): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: NAMESPACE, name: 'web' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { ...ON_PAPER, containers: [{ name: 'pause', image: PAUSE_IMAGE }] },
    },
  },
});

/** No test ticks nats-cluster, so its Lease says when it swept last. */
async function lastSweep(): Promise<string> {
  const lease = await world.rig.kube.get(LEASES, { namespace: OURS, name: NATS_CLUSTER_LEASE });
  return String(Object(lease?.['spec']).renewTime);
}

const allRun = (): Promise<void> =>
  eventually(async () => {
    const pods = await world.rig.pods('app=web');
    const running = pods.filter((pod) => Object(pod['status']).phase === 'Running').length;
    if (running !== PODS) throw new Error(`${running} pods run, and not ${PODS}`);
  });

describe('the feed is exact', () => {
  // Adapter and dispatcher in one test, since what both lose waits for the same sweep.
  test('after deletes that no source saw, and events that the channel lost', async () => {
    expect(await differences()).toEqual([]);
    const { healed } = await feed.counts();
    await world.rig.kill('eventing.knative.dev/sourceName=metadata', OURS);
    await world.rig.kill('app=web');
    await allRun();
    await world.rig.kill('app=web');
    await world.rig.kill('messaging.knative.dev/role=dispatcher', 'knative-eventing');
    expect(await differences()).toEqual([]);
    await eventually(async () => {
      await world.rig.tick('metadata');
      expect((await feed.counts()).healed).toBeGreaterThan(healed);
    });
  });

  test.each(['filter', 'ingress'])("after the broker's %s was killed in churn", async (role) => {
    await world.rig.apply(web(PODS / 2));
    await world.rig.kill(`eventing.knative.dev/brokerRole=${role}`, 'knative-eventing');
    await world.rig.apply(web(PODS));
    await allRun();
    expect(await differences()).toEqual([]);
  });
});

const SERVICES = { group: 'serving.knative.dev', version: 'v1', resource: 'services' } as const;
const METADATA = { namespace: OURS, name: 'metadata' } as const;

/** A change of the function's template, and so a new revision; `meanwhile` until it is the one. */
async function rollOut(
  annotations: Readonly<Record<string, string>>,
  meanwhile: () => Promise<void>,
): Promise<void> {
  const { kube } = world.rig;
  const readyRevision = async (): Promise<unknown> =>
    Object((await kube.get(SERVICES, METADATA))?.['status']).latestReadyRevisionName;
  const old = await readyRevision();
  const body = { spec: { template: { metadata: { annotations } } } };
  await kube.patch(SERVICES, METADATA, { type: 'merge', body });
  await eventually(async () => {
    await meanwhile();
    expect(await readyRevision()).not.toBe(old);
  });
}

/** Most pods go, and come back. */
async function churn(): Promise<void> {
  await world.rig.apply(web(1));
  await world.rig.apply(web(PODS));
  await allRun();
}

test('a new revision takes over in churn, and the feed stays exact', async () => {
  await rollOut({ 'ballast.dev/rolled-out-by': randomUUID() }, churn);
  expect(await differences()).toEqual([]);
});

test('three instances in churn publish a feed that is exact', async () => {
  const { rig } = world;
  await rollOut({ 'autoscaling.knative.dev/min-scale': '3' }, () => Promise.resolve());
  await eventually(async () => {
    const pods = await rig.pods('serving.knative.dev/service=metadata', OURS);
    const ready = pods.filter((pod) => Object(pod['status']).phase === 'Running');
    expect(ready.length).toBeGreaterThanOrEqual(3);
  });
  await rig.kill('app=web');
  await churn();
  expect(await differences()).toEqual([]);
});

const update = (id: string): Record<string, string> => ({
  ...binaryEvent('dev.knative.apiserver.resource.update', id),
  'ce-ballastfunction': 'metadata',
  'ce-apiversion': 'v1',
  'ce-kind': 'Pod',
  'ce-name': 'web',
  'ce-namespace': NAMESPACE,
});

describe('a function answers', () => {
  test('a plain call with JSON', async () => {
    const answer = await world.rig.callFunction('metadata');
    expect(answer).toMatchObject({ statusCode: 200 });
    expect(answer.contentType).toContain('application/json');
    expect(JSON.parse(answer.text)).toMatchObject({ name: 'metadata' });
  });

  test('an event with nothing that a broker could take for a failure', async () => {
    const [pod] = await world.rig.pods('app=web');
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', ...pod });
    const answer = await world.rig.callFunction('metadata', update(randomUUID()), body);
    expect(answer).toMatchObject({ statusCode: 204, text: '' });
  });
});

test('an event that its function cannot take is shown on the object it was about', async () => {
  // It carries the object with its uid: else nobody vouches for it, and the Broker would have it.
  const metadata = { name: 'web', namespace: NAMESPACE, uid: randomUUID(), resourceVersion: 'no' };
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata });
  // The broker may still miss the channel that the tests above have killed.
  await eventually(async () => {
    const { statusCode } = await world.rig.send(`${OURS}/ballast`, update(randomUUID()), body);
    expect(statusCode).toBe(202);
  });
  const ref = { group: 'events.k8s.io', version: 'v1', resource: 'events' };
  await eventually(async () => {
    const { items } = await world.rig.kube.list(ref, { namespace: NAMESPACE });
    const shown = items.filter((event) => event['reason'] === 'EventNotDelivered');
    // Others may stand beside it: of what the broker had while its channel was killed.
    const { name, uid } = metadata;
    expect(shown).toContainEqual(
      expect.objectContaining({ regarding: expect.objectContaining({ kind: 'Pod', name, uid }) }),
    );
  });
});

test.each([
  ['watch', '--cluster', '--verify'],
  ['audit', '--resource', 'metadatafeeds.ballast.dev'],
])('npm run %s finds the cluster that runs', (command, ...args) => {
  const entry = join(import.meta.dirname, '../../../knative/try/local', `${command}.ts`);
  const words = [entry, ...args, '--plane', inject('clusterDir')];
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  expect({ status, stderr }).toMatchObject({ status: 0 });
});

test('kn shows services, sources and triggers of ours as ready', async () => {
  const kn = await resolvePart('kn');
  const told = (...query: readonly string[]): string => {
    const args = [...query, '--namespace', OURS];
    const env = { KUBECONFIG: world.kubeconfigPath, HOME: '/nonexistent' };
    const { status, stdout, stderr } = spawnSync(kn, args, { env, encoding: 'utf8' });
    expect({ args, status, stderr }).toMatchObject({ status: 0 });
    return stdout;
  };
  const list = (...query: readonly string[]): readonly string[] => {
    const rows = told(...query, 'list', '--no-headers')
      .trim()
      .split('\n');
    expect(rows.filter((row) => !/ True *$/.test(row))).toEqual([]);
    return rows.map((row) => row.split(' ')[0] ?? '');
  };
  const wakeful = [
    'etcd-backup',
    'etcd-cluster',
    'etcd-peer',
    'etcd-restore',
    'metadata',
    'nats-cluster',
    'storage-migration',
  ];
  // A new namespace rolls the adapter of each source that watches all of them.
  await eventually(async () => {
    expect(list('service')).toEqual(await knativeNames());
    expect(list('source', 'apiserver')).toEqual(wakeful);
    expect(list('trigger')).toEqual(wakeful.map((name) => `${name}-changes`));
  });
  expect(told('service', 'describe', 'metadata')).toMatch(/\+\+ Ready /);
});

// At the end, when the minute is over that it may take.
test('the cron of a PingSource has its function sweep', async () => {
  await eventually(async () => expect(await lastSweep()).not.toBe(sweptAt));
});
