// A tenant with rights on one namespace must not be able to end the function that serves all of
// them: by objects as large as the API server takes them, and specs that take twenty times their
// size once they are read, of every kind that has a pod in it. One function meets them all.
import { afterAll, expect, test } from 'vitest';
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
const CRON_JOBS: ResourceRef = { group: 'batch', version: 'v1', resource: 'cronjobs' };
const CONFIG_MAPS: ResourceRef = { group: '', version: 'v1', resource: 'configmaps' };
const namespace = 'default';
const OF_THE_TEST = { precondition: 'none', because: 'the test owns the cluster' } as const;
const BACKGROUND = { propagationPolicy: 'Background' } as const;
const HUGE = { 'app.kubernetes.io/part-of': 'huge' };

/**
 * A part of the heap as shipped, for objects of half the size that etcd takes: code that holds on
 * to two of them ends the process.
 */
const HEAP_SHARE = 3 / 8;
/** The pod may have 384 MiB in all, of which the heap would be 80 MiB more than here. */
const PEAK_BYTES = 240 * 1024 * 1024;
/** An empty term is 2 bytes in etcd, 3 in JSON and some 60 in memory. */
const TERMS = 350_000;
/** There are more pods than a page may have bytes. */
const PODS = 3;

let world: FeedWorld;
let feed = '';
let stream: Stream;
let running: Shipped | undefined;
let shipped: Shipped;

withFeedEach(async (given) => {
  ({ world, feed, stream } = given);
  running ??= await startShipped(
    {
      KUBECONFIG: world.plane.kubeconfigPath,
      NATS_URL: world.plane.part('nats-server').url,
      FEED_NAMESPACE,
      // The test is about memory; a full machine is slow with objects like these.
      REQUEST_DEADLINE_SECONDS: '600',
    },
    HEAP_SHARE,
  );
  shipped = running;
}, withOwnPlane());

afterAll(() => running?.stop());

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

/** By kind: a spec with a pod of so many terms. */
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

const countOf = (kind: string): number => (kind === 'Pod' ? PODS : 1);
const counts = kinds.map(({ kind }) => countOf(kind));

async function eachHuge(work: (ref: ResourceRef, manifest: Manifest) => Promise<unknown>) {
  for (const { kind, ref } of kinds) {
    for (let index = 0; index < countOf(kind); index += 1) {
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

/** One that failed says what the function wrote last. */
async function expectSwept(): Promise<void> {
  const answer = await sweep();
  const lastWords = answer === 204 ? [] : shipped.log.slice(-3);
  expect({ answer, lastWords }).toEqual({ answer: 204, lastWords: [] });
}

/** How many of them the feed shows, by kind. */
async function shown(): Promise<readonly number[]> {
  const subjects = [...(await world.shown(stream)).keys()];
  return kinds.map(
    ({ resource }) => subjects.filter((one) => one.includes(`.${resource}.default.huge-`)).length,
  );
}

test('specs that are twenty times as large in memory end no sweep, of whichever kind', async () => {
  await world.createFeed(feed);
  await createPod(world.kube, 'of-another-tenant', 'n1');
  await expectSwept();
  const timeoutMs = 60_000;
  await eachHuge((ref, manifest) => world.kube.create(ref, manifest, { timeoutMs }));
  // By their history.
  await expectSwept();
  expect(await shown()).toEqual(counts);
  // An edit of the feed has all of them listed.
  const body = { spec: { retention: { tombstoneSeconds: 7_200 } } };
  const { kube } = world;
  const target = { namespace: FEED_NAMESPACE, name: feed };
  await kube.patch(METADATA_FEEDS, target, { type: 'merge', body });
  await expectSwept();
  expect(await shown()).toEqual(counts);
  // The history of a deletion has the whole object, too.
  await eachHuge((ref, { metadata }) =>
    kube.delete(ref, { ...metadata, namespace }, OF_THE_TEST, BACKGROUND),
  );
  await expectSwept();
  expect(await shown()).toEqual(kinds.map(() => 0));
  expect((await world.shown(stream)).size).toBeGreaterThan(0);
  const { conditions } = await world.status(feed);
  expect(conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
  expect(await shipped.peakBytes()).toBeLessThan(PEAK_BYTES);
});

const cronJob = (name: string): Manifest => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: {
    name,
    namespace: 'default',
    labels: Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [
        `tenant.example.com/a-label-of-usual-length-${index}`,
        `and-a-value-of-usual-length-${index}`,
      ]),
    ),
  },
  spec: {
    schedule: '0 0 1 1 *',
    suspend: true,
    jobTemplate: {
      spec: {
        template: {
          spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a:1' }] },
        },
      },
    },
  },
});

/** A list takes its whole size, though of its objects nothing but their labels is shown. */
const configMap = (name: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels: HUGE },
  data: { text: 'x'.repeat(1_000_000) },
});

async function create(ref: ResourceRef, manifests: readonly Manifest[]): Promise<void> {
  await Promise.all(manifests.map((one) => world.kube.create(ref, one, { timeoutMs: 60_000 })));
}

const named = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `huge-${index}`);

test('objects of fifty megabytes end no sweep, and hide nothing of other tenants', async () => {
  const v1 = (group: string, resource: string) => ({ group, version: 'v1', resource });
  await world.createFeed(feed, {
    resources: [
      v1('', 'pods'),
      { ...v1('', 'configmaps'), matchLabels: HUGE },
      v1('batch', 'cronjobs'),
    ],
  });
  await createPod(world.kube, 'of-another-tenant', 'n1');
  await create(CONFIG_MAPS, named(50).map(configMap));
  await create(CRON_JOBS, named(4).map(cronJob));
  expect(await shipped.send(TICK, {})).toBe(204);
  const subjects = [...(await world.shown(stream)).keys()];
  const count = (resource: string): number =>
    subjects.filter((subject) => subject.includes(`.${resource}.default.`)).length;
  expect([count('pods'), count('configmaps'), count('cronjobs')]).toEqual([1, 50, 4]);
  const { conditions } = await world.status(feed);
  expect(conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
  expect(await shipped.peakBytes()).toBeLessThan(PEAK_BYTES);
});
