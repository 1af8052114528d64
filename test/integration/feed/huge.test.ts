// What a tenant may write with rights on one namespace must not end the function that serves all of
// them: objects that the API server takes, as large as they come, against the memory as shipped.
import { afterEach, expect, test } from 'vitest';
import type { Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import type { Stream } from '../../../shared/nats/stream.ts';
import { withFeedEach } from './each.ts';
import { createPod } from './objects.ts';
import { withOwnPlane } from './own-plane.ts';
import { type Shipped, startShipped } from './shipped-function.ts';
import { FEED_NAMESPACE, type FeedWorld } from './world.ts';

const CRON_JOBS: ResourceRef = { group: 'batch', version: 'v1', resource: 'cronjobs' };
const CONFIG_MAPS: ResourceRef = { group: '', version: 'v1', resource: 'configmaps' };
const HUGE = { 'app.kubernetes.io/part-of': 'huge' };
const TICK = 'dev.knative.sources.ping';

let world: FeedWorld;
let feed = '';
let stream: Stream;
let shipped: Shipped;

withFeedEach(async (given) => {
  ({ world, feed, stream } = given);
  const resource = (group: string, name: string) => ({ group, version: 'v1', resource: name });
  await world.createFeed(feed, {
    resources: [
      resource('', 'pods'),
      { ...resource('', 'configmaps'), matchLabels: HUGE },
      resource('batch', 'cronjobs'),
    ],
  });
  shipped = await startShipped({
    KUBECONFIG: world.plane.kubeconfigPath,
    NATS_URL: world.plane.part('nats-server').url,
    FEED_NAMESPACE,
  });
}, withOwnPlane());

afterEach(async () => {
  await shipped.stop();
  const all = { precondition: 'none', because: 'the test owns the cluster' } as const;
  for (const ref of [CRON_JOBS, CONFIG_MAPS]) {
    const { items } = await world.kube.list(ref, { namespace: 'default', metadataOnly: true });
    for (const { metadata } of items) await world.kube.delete(ref, metadata, all);
  }
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

test('objects of a hundred megabytes end no sweep, and hide nothing of other tenants', async () => {
  await createPod(world.kube, 'of-another-tenant', 'n1');
  await create(CONFIG_MAPS, named(100).map(configMap));
  await create(CRON_JOBS, named(4).map(cronJob));
  expect(await shipped.send(TICK, {})).toBe(204);
  const shown = [...(await world.shown(stream)).keys()];
  const count = (resource: string): number =>
    shown.filter((subject) => subject.includes(`.${resource}.default.`)).length;
  expect([count('pods'), count('configmaps'), count('cronjobs')]).toEqual([1, 100, 4]);
  const { conditions } = await world.status(feed);
  expect(conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
  // What the pod may have in all is 256 MiB.
  expect(await shipped.peakBytes()).toBeLessThan(256 * 1024 * 1024);
});
