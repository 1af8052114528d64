// The cost of questions about events for the API server, and how old their answers may be: the real
// API server, asked through a client that counts, and that can be behind.
import { expect, test } from 'vitest';
import { Deps, type DepsOptions } from '../../../functions/metadata/deps.ts';
import { feedOf } from '../../../functions/metadata/feed.ts';
import { confirmEvent } from '../../../functions/metadata/confirm-event.ts';
import type { Outcome } from '../../../functions/metadata/reconcile-object.ts';
import { Session } from '../../../functions/metadata/session.ts';
import { METADATA_FEEDS } from '../../../shared/api/metadata-feed.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';
import { NO_ACCESS } from '../../../shared/nats/access.ts';
import type { Stream } from '../../../shared/nats/stream.ts';
import { CountingKube } from './counting-kube.ts';
import { withSweptFeedEach } from './each.ts';
import { annotatePod, createPod, labelPod, removePod } from './objects.ts';
import { FEED_NAMESPACE, type FeedWorld, type Sender, soon } from './world.ts';

const PODS: ResourceRef = { group: '', version: 'v1', resource: 'pods' };
const FAR_FUTURE = '99999999999999999999';

let world: FeedWorld;
let feed = '';
let stream: Stream;
let sweeper: Sender;

withSweptFeedEach((given) => {
  ({ world, feed, stream, sender: sweeper } = given);
});

interface Told {
  readonly counting: CountingKube;
  readonly tell: (object: KubeObject, verb?: 'delete') => Promise<Outcome>;
  readonly close: () => Promise<void>;
}

/** An instance that knows of the feed what stands in its status now. */
async function open(): Promise<Told> {
  const object = await world.kube.get(METADATA_FEEDS, { namespace: FEED_NAMESPACE, name: feed });
  if (object === null) throw new Error('there is no feed');
  const nats = { url: world.natsUrl, access: NO_ACCESS };
  const session = new Session(feedOf(object), nats);
  const counting = new CountingKube(world.kube);
  const options: DepsOptions = {
    kube: counting.kube,
    clock: systemClock,
    log: { warn: () => undefined },
    namespace: FEED_NAMESPACE,
    nats,
    confirmsEvents: true,
  };
  const deps = new Deps(options);
  const [resource] = session.feed.resources.filter(({ name }) => name === 'pods');
  if (resource === undefined) throw new Error('the feed shows no pods');
  return {
    counting,
    tell: async (pod, verb) => {
      const { resourceVersion } = pod.metadata;
      const observation = { resource, object: pod, isGone: verb === 'delete', resourceVersion };
      const task = { deps, session, signal: soon(), epoch: 1, nowMs: Date.now() };
      return (await confirmEvent(task, observation)).outcome;
    },
    close: () => session.close(),
  };
}

const madeUp = (pod: KubeObject, name: string, resourceVersion: string): KubeObject => ({
  ...pod,
  metadata: { ...pod.metadata, name, uid: name, resourceVersion },
});

test('a change costs one question that is answered from memory; no change costs none', async () => {
  const { counting, tell, close } = await open();
  const pod = await createPod(world.kube, 'a', 'n1');
  // The API server itself has heard of it: that is when its source tells of it.
  await expect.poll(() => atHand('a')).toBeDefined();
  expect(await tell(pod)).toBe('published');
  expect(counting.counts).toEqual({ atHand: 1, latest: 0 });
  expect(await tell(await annotatePod(world.kube, 'a', { step: '1' }))).toBe('unchanged');
  expect(await tell(pod)).toBe('unchanged');
  expect(counting.counts).toEqual({ atHand: 1, latest: 0 });
  await close();
});

async function atHand(name: string): Promise<KubeObject | undefined> {
  const { items } = await world.kube.list(PODS, { namespace: 'default', freshness: 'any' });
  return items.find(({ metadata }) => metadata.name === name);
}

test('a flood of invented pods asks four questions at once, no honest one waits', async () => {
  const { counting, tell, close } = await open();
  const pod = await createPod(world.kube, 'honest', 'n1');
  await expect.poll(() => atHand('honest')).toBeDefined();
  const { lastSequence } = await stream.state(soon());
  let left = 100;
  const flood = Array.from({ length: left }, async (_, index) => {
    // As many as a function takes at once. Half of them come from the future.
    const version = index % 2 === 0 ? FAR_FUTURE : pod.metadata.resourceVersion;
    const outcome = await tell(madeUp(pod, `made-up-${index}`, version));
    left -= 1;
    return outcome;
  });
  expect(await tell(pod)).toBe('published');
  // A caller that insists waits alone.
  expect(left).toBeGreaterThan(0);
  expect(new Set(await Promise.all(flood))).toEqual(new Set(['unchanged']));
  expect(counting.most.both).toBeLessThanOrEqual(4);
  expect(counting.most.latest).toBeLessThanOrEqual(2);
  expect(counting.counts).toEqual({ atHand: 151, latest: 50 });
  const changed = await world.changedSince(stream, lastSequence);
  expect(changed.filter((subject) => !subject.endsWith('.honest'))).toEqual([]);
  await close();
});

test('an API server that is behind the event is asked what is so now', async () => {
  const { counting, tell, close } = await open();
  const pod = await createPod(world.kube, 'a', 'n1');
  await counting.freeze(PODS, 'default', 'a');
  const labelled = await labelPod(world.kube, 'a', { step: '1' });
  expect(await tell(labelled)).toBe('published');
  expect(await world.difference(stream)).toEqual([]);
  expect(counting.counts).toEqual({ atHand: 2, latest: 1 });
  expect(await tell(pod)).toBe('overtaken');
  await close();
});

test('one that is behind for a moment is asked again, and etcd is left alone', async () => {
  const { counting, tell, close } = await open();
  await createPod(world.kube, 'a', 'n1');
  await counting.freeze(PODS, 'default', 'a');
  counting.frozenFor = 1;
  const labelled = await labelPod(world.kube, 'a', { step: '1' });
  await expect.poll(async () => (await atHand('a'))?.metadata.labels).toEqual({ step: '1' });
  expect(await tell(labelled)).toBe('published');
  expect(counting.counts).toEqual({ atHand: 2, latest: 0 });
  expect(await world.difference(stream)).toEqual([]);
  await close();
});

test('an API server that is behind brings back no pod that ended before it began', async () => {
  const { counting, tell, close } = await open();
  const pod = await createPod(world.kube, 'a', 'n1');
  await counting.freeze(PODS, 'default', 'a');
  // Nothing stood about it, so that its end leaves nothing behind.
  expect(await tell(await removePod(world.kube, 'a'), 'delete')).toBe('unchanged');
  expect(await tell(pod)).toBe('unchanged');
  expect(await world.difference(stream)).toEqual([]);
  await close();
});

test('nor one whose end a sweep has told, when nothing is left of that in the stream', async () => {
  const pod = await createPod(world.kube, 'a', 'n1');
  const counting = new CountingKube(world.kube);
  await counting.freeze(PODS, 'default', 'a');
  await removePod(world.kube, 'a');
  await sweeper.sweep();
  for (const place of ['node.n1', 'cluster._'])
    await world.purge(stream, `${place}.pods.default.a`);
  const later = await open();
  later.counting.frozen = counting.frozen;
  expect(await later.tell(pod)).toBe('unchanged');
  expect(later.counting.counts).toEqual({ atHand: 2, latest: 1 });
  expect(await world.difference(stream)).toEqual([]);
  await later.close();
});

test('of a kind that went with its objects their end is told, and nothing else', async () => {
  const { counting, tell, close } = await open();
  const pod = await createPod(world.kube, 'a', 'n1');
  expect(await tell(pod)).toBe('published');
  counting.insteadOf = { ...PODS, resource: 'nosuchkind' };
  const { lastSequence } = await stream.state(soon());
  expect(await tell(await labelPod(world.kube, 'a', { step: '1' }))).toBe('unchanged');
  expect(await world.changedSince(stream, lastSequence)).toEqual([]);
  expect(await tell(await removePod(world.kube, 'a'), 'delete')).toBe('published');
  expect(await world.difference(stream)).toEqual([]);
  await close();
});
