// Messages where no look finds them: they are not there to begin with, or the sweep's counts tell.
import { expect, test } from 'vitest';
import { feedOf } from '../../../functions/metadata/feed.ts';
import { reconcileObject, reconcileLive } from '../../../functions/metadata/reconcile-object.ts';
import { Session } from '../../../functions/metadata/session.ts';
import { type Projection, project } from '../../../functions/metadata/observation.ts';
import { METADATA_FEEDS } from '../../../shared/api/metadata-feed.ts';
import { decodeMessage, encodeMessage, isTombstone } from '../../../shared/feed/messages.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { NO_ACCESS } from '../../../shared/nats/access.ts';
import type { Stream } from '../../../shared/nats/stream.ts';
import { withSweptFeedEach } from './each.ts';
import { SLICES, bindPod, createPod, removePod } from './objects.ts';
import { AT_THEIR_WORD, FEED_NAMESPACE, type FeedWorld, type Sender, soon } from './world.ts';

let world: FeedWorld;
let feed = '';
let stream: Stream;
let sender: Sender;

withSweptFeedEach((given) => {
  ({ world, feed, stream, sender } = given);
});

async function openSession(): Promise<Session> {
  const object = await world.kube.get(METADATA_FEEDS, { namespace: FEED_NAMESPACE, name: feed });
  if (object === null) throw new Error('there is no feed');
  return new Session(feedOf(object), { url: world.natsUrl, access: NO_ACCESS });
}

/** As if a sweep had confirmed it. */
async function confirmAsOf(version: number): Promise<void> {
  const target = { namespace: FEED_NAMESPACE, name: feed, subresource: 'status' };
  const body = { status: { version } };
  const options = { fieldManager: 'ballast-metadata' };
  await world.kube.patch(METADATA_FEEDS, target, { type: 'merge', body }, options);
}

test('the truth about an object that came back closes the place of its birth', async () => {
  const session = await openSession();
  const [resource] = session.feed.resources.filter(({ name }) => name === 'pods');
  if (resource === undefined) throw new Error('the feed shows no pods');
  const projectionOf = (object: KubeObject, isGone = false): Projection => {
    const { resourceVersion } = object.metadata;
    return project(session.feed, { resource, object, isGone, resourceVersion }, 1);
  };
  const hint = { epoch: 1, nowMs: Date.now(), source: 'event' } as const;
  await reconcileObject(session, projectionOf(await createPod(world.kube, 'twice')), hint, soon());
  await reconcileObject(
    session,
    projectionOf(await removePod(world.kube, 'twice'), true),
    hint,
    soon(),
  );
  const pending = await createPod(world.kube, 'twice');
  const bound = await bindPod(world.kube, 'twice', 'n1');
  const truth = { epoch: 1, nowMs: Date.now(), before: Infinity };
  expect((await reconcileLive(session, projectionOf(bound), truth, soon())).outcome).toBe(
    'published',
  );
  // Its birth is told last.
  expect((await reconcileObject(session, projectionOf(pending), hint, soon())).outcome).toBe(
    'overtaken',
  );
  expect(await world.difference(stream)).toEqual([]);
  await session.close();
});

test('forgeries: another scope is removed, one object too many is stray, not lacking', async () => {
  const { prefix } = stream.settings;
  const message = { epoch: 1, kind: 'Service', namespace: 'default', uid: 'u', name: 'ghost' };
  const data = encodeMessage({ ...message, resourceVersion: '1' });
  const strange = 'strange.node-003.services.default.ghost';
  let version = 0;
  for (const name of [strange, 'all._.services.default.ghost']) {
    const publication = { subject: `${prefix}.${name}`, data, expectedSequence: 0 };
    version = await stream.publish([publication], soon());
  }
  await confirmAsOf(version);
  await sender.sweep();
  const { resources = [] } = await world.status(feed);
  const services = resources.find(({ name }) => name === 'services');
  expect([services?.stray, services?.lacking]).toEqual([1, undefined]);
  const subject = `${prefix}.${strange}`;
  const left = (await stream.last([subject], soon())).get(subject);
  const there = left && decodeMessage(left.data);
  expect(there && isTombstone(there)).toBe(true);
  await sender.sweep();
  expect(await world.difference(stream)).toEqual([]);
  const after = (await stream.last([subject], soon())).get(subject);
  expect(after?.sequence).toBe(left?.sequence);
});

test('a part of an endpoint slice that no head names is found by its count', async () => {
  const stray = 'node.n9.endpointslices.default.gone';
  const { prefix } = stream.settings;
  const message = { epoch: 1, kind: 'EndpointSlice', namespace: 'default', name: 'gone' };
  const data = encodeMessage({ ...message, uid: 'u', resourceVersion: '1', node: 'n9' });
  const version = await stream.publish(
    [{ subject: `${prefix}.${stray}`, data, expectedSequence: 0 }],
    soon(),
  );
  await confirmAsOf(version);
  await sender.sweep();
  const { resources = [] } = await world.status(feed);
  expect(resources.find(({ name }) => name === SLICES.resource)).toMatchObject({ stray: 1 });
  // Another instance: this one may have gone to sleep.
  const other = await world.startFunction(AT_THEIR_WORD);
  // Its clock is a minute ahead with each.
  await expect
    .poll(
      async () => {
        await other.sweep();
        return world.difference(stream);
      },
      { timeout: 20_000 },
    )
    .toEqual([]);
});

async function handWritten(subject: string, message: object | string): Promise<void> {
  const text = typeof message === 'string' ? message : JSON.stringify(message);
  const data = new TextEncoder().encode(text);
  const full = `${stream.settings.prefix}.${subject}`;
  await stream.publish([{ subject: full, data, expectedSequence: 0 }], soon());
}

const claim = { epoch: 1, kind: 'X', name: 'x', uid: 'u', resourceVersion: '999999999' };

test.each([
  ['a namespace for what belongs to none', 'all._.nodes.web.x', claim],
  ['a name that no path can hold', 'all._.services.a%2fb.x', claim],
  ['a name that no selector can hold', 'all._.services.web.a%3db', claim],
  ['bytes of anybody', 'all._.services.web.y', 'anything'],
  ['nodes that are none', 'cluster._.endpointslices.web.z', { ...claim, nodes: 'abc' }],
  ['nodes without names', 'cluster._.endpointslices.web.z', { ...claim, nodes: [''] }],
  ['an epoch that nobody began', 'node.n1.pods.web.x', { ...claim, epoch: 1e15 }],
])('a message by hand stops no sweep: %s', async (_what, subject, message) => {
  await handWritten(subject, message);
  expect(await sender.sweep()).toBe(204);
  expect(await world.difference(stream)).toEqual([]);
});

const sliceOn = (node: string) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'ends', namespace: 'default' },
  addressType: 'IPv4' as const,
  endpoints: [{ addresses: ['10.1.0.1'], nodeName: node }],
});

test('a forged head whose slice is deleted unheard does not outlive a sweep', async () => {
  const slice = await world.kube.apply(SLICES, sliceOn('n1'), { force: true });
  await sender.change(slice, 'add');
  await sender.sweep();
  const { metadata } = slice;
  const forged = { ...metadata, resourceVersion: '999999999', labels: { forged: 'yes' } };
  await sender.change({ ...slice, metadata: forged }, 'update');
  const because = 'the test owns the cluster';
  const target = { namespace: 'default', name: 'ends' };
  await world.kube.delete(SLICES, target, { precondition: 'none', because });
  await sender.sweep();
  expect(await world.difference(stream)).toEqual([]);
});

test('a claim about a resource that could not be read is removed by a list', async () => {
  const name = 'claimed';
  await handWritten(`node.n1.pods.default.${name}`, { ...claim, kind: 'Pod', name });
  const { lastSequence: version } = await stream.state(soon());
  const target = { namespace: FEED_NAMESPACE, name: feed, subresource: 'status' };
  // As if that sweep had passed over it.
  const body = { status: { version, resources: [] } };
  const options = { fieldManager: 'ballast-metadata' };
  await world.kube.patch(METADATA_FEEDS, target, { type: 'merge', body }, options);
  await sender.sweep();
  expect(await world.difference(stream)).toEqual([]);
});
