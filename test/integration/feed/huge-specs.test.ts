// Specs that take twenty times their size once they are read, of every kind that has a pod in it:
// listed, changed and deleted, against the memory of the function as shipped.
import { afterEach, expect, test } from 'vitest';
import { METADATA_FEEDS } from '../../../shared/api/metadata-feed.ts';
import { BUILT_IN } from '../../../shared/feed/projections/built-in.ts';
import type { Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import type { Stream } from '../../../shared/nats/stream.ts';
import { withFeedEach } from './each.ts';
import { createPod } from './objects.ts';
import { withOwnPlane } from './own-plane.ts';
import { type Shipped, startShipped } from './shipped-function.ts';
import { FEED_NAMESPACE, type FeedWorld } from './world.ts';

const TICK = 'dev.knative.sources.ping';
const namespace = 'default';
const OF_THE_TEST = { precondition: 'none', because: 'the test owns the cluster' } as const;
const BACKGROUND = { propagationPolicy: 'Background' } as const;
const OBJECTS = 2;
/** An empty term is 2 bytes in etcd, 3 in JSON and some 60 in memory; etcd takes 1.5 MiB. */
const TERMS = 700_000;

let world: FeedWorld;
let feed = '';
let stream: Stream;
let shipped: Shipped;

withFeedEach(async (given) => {
  ({ world, feed, stream } = given);
  await world.createFeed(feed, {});
  shipped = await startShipped({
    KUBECONFIG: world.plane.kubeconfigPath,
    NATS_URL: world.plane.part('nats-server').url,
    FEED_NAMESPACE,
  });
}, withOwnPlane());

afterEach(() => shipped.stop());

const nodeSelectorTerms = Array.from({ length: TERMS }, () => ({}));
const podSpec = {
  restartPolicy: 'Never',
  containers: [{ name: 'a', image: 'a:1' }],
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  },
};
const matchLabels = { app: 'a' };
const template = { metadata: { labels: matchLabels }, spec: podSpec };
const always = { ...template, spec: { ...podSpec, restartPolicy: 'Always' } };
const scaled = { replicas: 0, selector: { matchLabels }, template: always };

/** By kind: a spec with a pod of half a million terms. */
const SPECS: Readonly<Record<string, object>> = {
  Pod: podSpec,
  Deployment: scaled,
  ReplicaSet: scaled,
  StatefulSet: { ...scaled, serviceName: 'a' },
  DaemonSet: { selector: { matchLabels }, template: always },
  Job: { suspend: true, template },
  CronJob: { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec: { template } } },
};

const kinds = BUILT_IN.filter(({ kind }) => kind in SPECS);

async function eachHuge(work: (ref: ResourceRef, manifest: Manifest) => Promise<unknown>) {
  for (const { kind, ref } of kinds) {
    for (let index = 0; index < OBJECTS; index += 1) {
      const apiVersion = ref.group === '' ? ref.version : `${ref.group}/${ref.version}`;
      // Digits as of a number that JavaScript cannot hold, which had cost memory once.
      const annotations = { digits: ':9007199254740993' };
      const metadata = { namespace, name: `huge-${index}`, annotations };
      await work(ref, { apiVersion, kind, metadata, spec: SPECS[kind] });
    }
  }
}

/** Sweeps whenever the last one was. */
async function sweep(): Promise<number | 'ended'> {
  const target = { namespace: FEED_NAMESPACE, name: feed, subresource: 'status' };
  const body = { status: { sweptAt: '2026-01-01T00:00:00Z' } };
  await world.kube.patch(METADATA_FEEDS, target, { type: 'merge', body });
  return shipped.send(TICK, {});
}

/** How many of them the feed shows, by kind. */
async function shown(): Promise<readonly number[]> {
  const subjects = [...(await world.shown(stream)).keys()];
  return kinds.map(
    ({ resource }) => subjects.filter((one) => one.includes(`.${resource}.default.huge-`)).length,
  );
}

test('specs that are twenty times as large in memory end no sweep, of whichever kind', async () => {
  await createPod(world.kube, 'of-another-tenant', 'n1');
  expect(await sweep()).toBe(204);
  const timeoutMs = 60_000;
  await eachHuge((ref, manifest) => world.kube.create(ref, manifest, { timeoutMs }));
  // By their history.
  expect(await sweep()).toBe(204);
  expect(await shown()).toEqual(kinds.map(() => OBJECTS));
  // An edit of the feed has all of them listed.
  const body = { spec: { retention: { tombstoneSeconds: 7_200 } } };
  const { kube } = world;
  const target = { namespace: FEED_NAMESPACE, name: feed };
  await kube.patch(METADATA_FEEDS, target, { type: 'merge', body });
  expect(await sweep()).toBe(204);
  expect(await shown()).toEqual(kinds.map(() => OBJECTS));
  // The history of a deletion has the whole object, too.
  await eachHuge((ref, { metadata }) =>
    kube.delete(ref, { ...metadata, namespace }, OF_THE_TEST, BACKGROUND),
  );
  expect(await sweep()).toBe(204);
  expect(await shown()).toEqual(kinds.map(() => 0));
  expect((await world.shown(stream)).size).toBeGreaterThan(0);
  const { conditions } = await world.status(feed);
  expect(conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
  // The pod may have 384 MiB in all.
  expect(await shipped.peakBytes()).toBeLessThan(320 * 1024 * 1024);
});
