// The stream shows just what the spec of a MetadataFeed says, after every edit too: an edit
// publishes anew the messages that it changes, and no others.
import { nkeys } from 'nats';
import { expect, onTestFinished, test } from 'vitest';
import { startPlane } from '../../../knative/try/local/plane/plane.ts';
import { METADATA_FEEDS } from '../../../shared/api/metadata-feed.ts';
import { decodeMarker } from '../../../shared/feed/messages.ts';
import { MARKER_SUBJECT } from '../../../shared/feed/subjects.ts';
import type { Stream } from '../../../shared/nats/stream.ts';
import { CA, OTHER_CA, startSecuredNats } from '../../builders/secured-nats.ts';
import { SLICES, createPod, labelPod } from './objects.ts';
import { AT_THEIR_WORD, FEED_NAMESPACE, type FeedWorld, type Sender, soon } from './world.ts';
import { withFeedEach } from './each.ts';

let world: FeedWorld;
let feed = '';
let stream: Stream;
let sender: Sender;

withFeedEach(async (given) => {
  ({ world, feed, stream } = given);
  sender = await world.startFunction();
});

async function edit(spec: Readonly<Record<string, unknown>>): Promise<void> {
  const target = { namespace: FEED_NAMESPACE, name: feed };
  await world.kube.patch(METADATA_FEEDS, target, { type: 'merge', body: { spec } });
}

const podsOf = async (): Promise<readonly string[]> =>
  [...(await world.shown(stream)).keys()].filter((subject) => subject.includes('.pods.'));

test('labels that an edit no longer shows are published away, and nothing else', async () => {
  await world.createFeed(feed);
  await createPod(world.kube, 'plain', 'n1');
  await createPod(world.kube, 'labelled', 'n1');
  await labelPod(world.kube, 'labelled', { app: 'web', secret: 'x' });
  await sender.sweep();
  const before = await stream.state(soon());
  await edit({ pods: { labels: ['app'] } });
  await sender.sweep();
  const shown = await world.shown(stream);
  expect(shown.get('node.n1.pods.default.labelled')).toMatchObject({ labels: { app: 'web' } });
  const changed = await world.changedSince(stream, before.lastSequence);
  expect(changed).toEqual(['node.n1.pods.default.labelled']);
});

test('namespaces that an edit leaves out disappear, and come back', async () => {
  await world.createFeed(feed);
  await createPod(world.kube, 'a', 'n1');
  await sender.sweep();
  await edit({ namespaces: { exclude: ['default'] } });
  await sender.sweep();
  expect(await podsOf()).toEqual([]);
  await edit({ namespaces: null });
  await sender.sweep();
  expect(await podsOf()).toEqual(['node.n1.pods.default.a']);
});

test('a label selector holds for events too', async () => {
  const web = { group: '', version: 'v1', resource: 'pods', matchLabels: { app: 'web' } };
  await world.createFeed(feed, { resources: [web] });
  await sender.sweep();
  await sender.change(await createPod(world.kube, 'a', 'n1'), 'add');
  expect(await podsOf()).toEqual([]);
  await sender.change(await labelPod(world.kube, 'a', { app: 'web' }), 'update');
  expect(await podsOf()).toEqual(['node.n1.pods.default.a']);
  await sender.change(await labelPod(world.kube, 'a', { app: 'db' }), 'update');
  expect(await podsOf()).toEqual([]);
});

test('a resource that an edit no longer names goes, with all its objects', async () => {
  await world.createFeed(feed);
  await createPod(world.kube, 'a', 'n1');
  await sender.sweep();
  await edit({ resources: [{ group: '', version: 'v1', resource: 'namespaces' }] });
  await sender.sweep();
  const left = [...(await world.shown(stream)).keys()];
  expect(left.every((subject) => subject.startsWith('all._.namespaces.'))).toBe(true);
  expect(left.length).toBeGreaterThan(0);
});

test('a kind of somebody else is shown with its named fields, at each sweep', async () => {
  const resource = { group: 'ballast.dev', version: 'v1alpha1', resource: 'metadatafeeds' };
  const fields = [{ name: 'sweep', path: '.spec.sweepSeconds' }];
  await world.createFeed(feed, { resources: [{ ...resource, fields }] });
  await sender.sweep();
  const subject = `all._.metadatafeeds%2eballast%2edev.${FEED_NAMESPACE}.${feed}`;
  const shown = await world.shown(stream);
  expect(shown.get(subject)).toMatchObject({ kind: 'MetadataFeed', fields: { sweep: 60 } });
});

test('a kind of somebody else is shown by its events too', async () => {
  const resource = { group: 'ballast.dev', version: 'v1alpha1', resource: 'metadatafeeds' };
  const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
  const fields = [{ name: 'holder', path: '.spec.holderIdentity' }];
  await world.createFeed(feed, { resources: [resource, { ...leases, fields }] });
  await sender.sweep();
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: feed, namespace: 'default' },
    spec: { holderIdentity: 'somebody' },
  };
  const { object } = await world.kube.create(leases, lease);
  expect(await sender.change(object, 'add')).toBe(204);
  const subject = `all._.leases%2ecoordination%2ek8s%2eio.default.${feed}`;
  const shown = await world.shown(stream);
  expect(shown.get(subject)).toMatchObject({ kind: 'Lease', fields: { holder: 'somebody' } });
});

test('a resource that is not there, or not allowed, stops no other and is told', async () => {
  const missing = { group: 'nobody.example', version: 'v1', resource: 'widgets' };
  const nodes = { group: '', version: 'v1', resource: 'namespaces' };
  await world.createFeed(feed, { resources: [missing, nodes] });
  expect(await sender.sweep()).toBe(204);
  const { conditions } = await world.status(feed);
  expect(conditions).toContainEqual(
    expect.objectContaining({ type: 'Degraded', status: 'True', reason: 'ResourceUnknown' }),
  );
  expect(conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
});

test('a feed of which nothing can be read shows nobody an empty cluster', async () => {
  const missing = { group: 'nobody.example', version: 'v1', resource: 'widgets' };
  await world.createFeed(feed, { resources: [missing] });
  expect(await sender.sweep()).toBe(204);
  const { conditions } = await world.status(feed);
  expect(conditions).toContainEqual(
    expect.objectContaining({ type: 'Ready', status: 'False', reason: 'ResourceBlocked' }),
  );
  const subject = `ballast.${feed}.${MARKER_SUBJECT}`;
  const { data = new Uint8Array() } = (await stream.last([subject], soon())).get(subject) ?? {};
  expect(decodeMarker(data)).toMatchObject({ ready: false });
});

test('an object that is too large is left out, told, and comes when it fits', async () => {
  await world.createFeed(feed, { pods: { annotations: ['*'] } });
  // It is too large for the API server, too.
  const credulous = await world.startFunction(AT_THEIR_WORD);
  const pod = await createPod(world.kube, 'a', 'n1');
  await credulous.sweep();
  const huge = { note: 'x'.repeat(2_000_000) };
  const grown = { ...pod, metadata: { ...pod.metadata, annotations: huge } };
  const metadata = {
    ...grown.metadata,
    resourceVersion: String(Number(pod.metadata.resourceVersion) + 1),
  };
  const body = JSON.stringify({ ...grown, metadata }).length;
  expect(body).toBeGreaterThan(1_048_576);
  expect(await credulous.change({ ...grown, metadata }, 'update')).toBe(204);
  expect(await podsOf()).toEqual([]);
  await credulous.sweep();
  expect(await podsOf()).toEqual(['node.n1.pods.default.a']);
  expect((await world.status(feed)).events).toMatchObject({ oversize: 1 });
});

test('an object that is too large to be read with others is not counted once gone', async () => {
  const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
  await world.createFeed(feed, { resources: [configMaps] });
  // The API server writes six bytes for each.
  const data = { text: '<'.repeat(900_000) };
  const metadata = { name: feed, namespace: 'default' };
  await world.kube.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
  expect(await sender.sweep()).toBe(204);
  const subject = `all._.configmaps.default.${feed}`;
  expect((await world.shown(stream)).has(subject)).toBe(true);
  const because = 'the test made it';
  await world.kube.delete(configMaps, metadata, { precondition: 'none', because });
  expect(await sender.sweep()).toBe(204);
  expect((await world.shown(stream)).has(subject)).toBe(false);
  const { conditions } = await world.status(feed);
  const asExpected = { type: 'Degraded', status: 'False', reason: 'AsExpected' };
  expect(conditions).toContainEqual(expect.objectContaining(asExpected));
});

test('endpoint slices are told per node, also to a node that loses its last one', async () => {
  await world.createFeed(feed);
  await sender.sweep();
  const slice = await sliceOn(['n1', 'n2', undefined]);
  await sender.change(slice, 'add');
  expect(await world.shown(stream)).toEqual(await world.expected());
  const less = await sliceOn(['n2']);
  await sender.change(less, 'update');
  expect((await world.shown(stream)).has('node.n1.endpointslices.default.web-1')).toBe(false);
  expect(await world.shown(stream)).toEqual(await world.expected());
  const none = await sliceOn([]);
  await sender.change(none, 'update');
  expect(await world.shown(stream)).toEqual(await world.expected());
  await sender.change(slice, 'update');
  expect(await world.shown(stream)).toEqual(await world.expected());
});

async function sliceOn(nodes: readonly (string | undefined)[]) {
  return world.kube.apply(
    SLICES,
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: 'web-1',
        namespace: 'default',
        labels: { 'kubernetes.io/service-name': 'web' },
      },
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
      endpoints: nodes.map((nodeName, index) => ({
        addresses: [`10.0.0.${index + 1}`],
        conditions: { ready: true },
        ...(nodeName === undefined ? {} : { nodeName }),
      })),
    },
    { force: true },
  );
}

test('the NATS of a feed may come from a Secret; one that is not there is told', async () => {
  await world.createFeed(feed, { nats: { secretRef: { name: 'other-nats' } } });
  expect(await sender.sweep()).toBe(503);
  const secrets = { group: '', version: 'v1', resource: 'secrets' };
  await world.kube.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'other-nats', namespace: FEED_NAMESPACE },
    stringData: { url: world.natsUrl },
  });
  expect(await sender.sweep()).toBe(204);
  expect(await world.shown(stream)).toEqual(await world.expected());
});

test('a Secret that changes is followed without an edit of the feed', async () => {
  const secrets = { group: '', version: 'v1', resource: 'secrets' };
  const { natsUrl: url } = world;
  await world.kube.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'moving-nats', namespace: FEED_NAMESPACE },
    stringData: { url: 'nats://127.0.0.1:1' },
  });
  await world.createFeed(feed, { nats: { secretRef: { name: 'moving-nats' } } });
  expect(await sender.sweep()).toBe(503);
  const target = { namespace: FEED_NAMESPACE, name: 'moving-nats' };
  await world.kube.patch(secrets, target, { type: 'merge', body: { stringData: { url } } });
  await expect.poll(() => sender.sweep()).toBe(204);
  expect(await world.shown(stream)).toEqual(await world.expected());
});

test('a Secret that changes is used by the next event, without a sweep', async () => {
  const secrets = { group: '', version: 'v1', resource: 'secrets' };
  const { natsUrl: url } = world;
  const target = { namespace: FEED_NAMESPACE, name: 'watched-nats' };
  await world.kube.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: target,
    stringData: { url },
  });
  await world.createFeed(feed, { nats: { secretRef: { name: target.name } } });
  expect(await sender.sweep()).toBe(204);
  const pod = await createPod(world.kube, 'a', 'n1');
  expect(await sender.change(pod, 'add')).toBe(204);
  const body = { stringData: { url: 'nats://127.0.0.1:1' } };
  await world.kube.patch(secrets, target, { type: 'merge', body });
  await expect.poll(() => sender.change(pod, 'update')).toBe(503);
});

test('the NATS of a feed may speak TLS and ask for an NKey: its Secret says how', async () => {
  const user = nkeys.createUser();
  const authorization = { users: [{ nkey: user.getPublicKey() }] };
  const plane = await startPlane({ parts: [] });
  onTestFinished(() => plane.stop());
  const { url } = await startSecuredNats(plane, 'secured', { authorization });
  const secrets = { group: '', version: 'v1', resource: 'secrets' };
  const target = { namespace: FEED_NAMESPACE, name: 'secured-nats' };
  const nkey = Buffer.from(user.getSeed()).toString();
  await world.kube.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: target,
    stringData: { url, nkey, 'ca.crt': OTHER_CA },
  });
  await world.createFeed(feed, { nats: { secretRef: { name: target.name } } });
  const saidOf = async (): Promise<string> => JSON.stringify((await world.status(feed)).conditions);
  const told = async (): Promise<string> => {
    expect(await sender.sweep()).toBe(503);
    return saidOf();
  };
  await expect.poll(told).toMatch(/none of the authorities in ca\.crt.*Secret feeds\/secured-nats/);
  const put = (stringData: object) =>
    world.kube.patch(secrets, target, { type: 'merge', body: { stringData } });
  await put({ 'ca.crt': CA, nkey: `${nkey}x` });
  await expect.poll(told).toMatch(/Secret feeds\/secured-nats has no seed of a user in nkey/);
  expect(await saidOf()).not.toContain(nkey);
  await put({ nkey });
  await expect.poll(() => sender.sweep()).toBe(204);
  expect(JSON.stringify((await world.status(feed)).conditions)).toContain('"Published"');
});

test('two feeds cannot have one stream: the younger is told whose it is', async () => {
  await world.createFeed(feed);
  await sender.sweep();
  await world.createFeed(`${feed}-too`, { stream: { name: feed } });
  await createPod(world.kube, 'a', 'n1');
  await sender.sweep();
  expect(await world.shown(stream)).toEqual(await world.expected());
  expect((await world.status(`${feed}-too`)).conditions).toMatchObject([
    { type: 'Ready', status: 'False', reason: 'StreamTaken' },
  ]);
  await world.removeFeed(`${feed}-too`);
});
