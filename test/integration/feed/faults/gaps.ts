// Mistakes that a feed of another kind was seen to make, each a test by its number; those that are
// not here are named in docs/design/20261121-metadata-feed-faults.md with the test that has them.
import { expect, test } from 'vitest';
import type { Reader } from '../../../chaos/reader.ts';
import { LATE, NATS } from '../../../chaos/rig.ts';
import {
  DEPLOYMENTS,
  NODES,
  PODS,
  SERVICES,
  SLICES,
  node,
  pod,
  service,
  slice,
  workload,
} from '../../../chaos/shapes.ts';
import { Random } from '../../../chaos/random.ts';
import { lastSequence } from '../../../chaos/sequences.ts';
import { LONG, WELL, rig, story } from './story.ts';

const random = new Random('gaps');

const sequence = (): Promise<number> => lastSequence(rig.plane.part(NATS).url);

function readerOf(name: string): Reader {
  const reader = rig.readers.find((one) => one.name === name);
  if (reader === undefined) throw new Error(`nobody reads ${name}`);
  return reader;
}

const held = (name: string): readonly string[] =>
  [...readerOf(name).replica.catalog.entries()].map(({ subject }) => subject).toSorted();

test('gap 1: who followed live, who resumed and who just came hold the same', async () => {
  const resumed = rig.addReader('cluster');
  await resumed.replica.whenCurrent();
  await resumed.close();
  await story.goesOn();
  resumed.open('bookmark');
  const fresh = rig.addReader('cluster');
  expect(await story.ending()).toEqual(WELL);
  const all = [resumed, fresh, readerOf('cluster')].map(({ replica }) =>
    [...replica.catalog.entries()]
      .map(({ subject, version }) => `${subject} ${version}`)
      .toSorted(),
  );
  expect(all[1]).toEqual(all[0]);
  expect(all[2]).toEqual(all[0]);
});

test('gaps 3 and 8: a cold start costs what lives, and is told to nobody else', async () => {
  for (let step = 0; step < 60; step += 1) {
    await story.mutator.label(PODS, 'changed', { step: String(step) });
  }
  expect(await story.ending()).toEqual(WELL);
  const others = rig.readers.map(({ observer }) => observer.seen);
  const fresh = rig.addReader('cluster');
  await fresh.replica.whenCurrent();
  await expect.poll(() => fresh.observer.seen, LONG).toBe(held('cluster').length);
  expect(rig.readers.slice(0, -1).map(({ observer }) => observer.seen)).toEqual(others);
});

test('gap 4: what all nodes share is published once, however many read it', async () => {
  const before = await sequence();
  await story.mutator.create(DEPLOYMENTS, workload('Deployment', 'shared', random));
  const isThere = (): readonly boolean[] =>
    rig.readers.map(({ name }) => held(name).includes('all._.deployments.default.shared'));
  await expect.poll(isThere, LONG).toEqual(rig.readers.map(() => true));
  expect(await sequence()).toBe(before + 1);
});

test('gap 5: what shows nowhere is published nowhere', async () => {
  const before = await sequence();
  const { received } = rig.relay;
  await story.mutator.annotate(PODS, 'changed', random);
  await story.mutator.merge(PODS, 'changed', { metadata: { annotations: { note: 'again' } } });
  await expect.poll(() => rig.relay.received, LONG).toBeGreaterThanOrEqual(received + 2);
  await rig.relay.quiet();
  expect(await sequence()).toBe(before);
});

test('gap 6: a service is one object; scale to zero and its end reach the node', async () => {
  const { mutator } = story;
  const onNode = { addresses: ['10.0.0.1'], nodeName: 'n0', conditions: { ready: true } };
  const slices = (): readonly string[] =>
    held('n0').filter((one) => one.includes('endpointslices'));
  const services = (): readonly string[] =>
    held('n0').filter((one) => one.includes('services.default'));
  await mutator.create(SERVICES, service('shop', random));
  await mutator.create(SLICES, { ...slice('shop-1', random), endpoints: [onNode] });
  await expect.poll(slices, LONG).toContain('node.n0.endpointslices.default.shop-1');
  await expect.poll(services, LONG).toContain('all._.services.default.shop');
  await mutator.merge(SLICES, 'shop-1', { endpoints: [] });
  await expect.poll(slices, LONG).not.toContain('node.n0.endpointslices.default.shop-1');
  await mutator.remove(SLICES, 'shop-1');
  await mutator.remove(SERVICES, 'shop');
  await expect.poll(services, LONG).not.toContain('all._.services.default.shop');
  expect(held('cluster').filter((subject) => subject.includes('.shop'))).toEqual([]);
});

test('gap 7: a new node with an old address inherits nothing', async () => {
  const { mutator } = story;
  const addresses = { addresses: [{ type: 'InternalIP', address: '192.168.9.9' }] };
  await mutator.create(NODES, node('old', random));
  await mutator.status(NODES, 'old', addresses);
  await mutator.create(PODS, pod('of-old', random, 'old'));
  await rig.relay.quiet();
  await mutator.remove(NODES, 'old');
  await mutator.create(NODES, node('new', random));
  await mutator.status(NODES, 'new', addresses);
  await mutator.create(PODS, pod('of-new', random, 'new'));
  expect(await story.ending()).toEqual(WELL);
  const fresh = rig.addReader(LATE);
  await fresh.replica.whenCurrent();
  const pods = [...fresh.replica.catalog.entries()].filter(({ key }) => key.resource === 'pods');
  expect(pods.map(({ subject }) => subject)).toEqual(['node.new.pods.default.of-new']);
  expect(fresh.replica.catalog.byIp('192.168.9.9').map(({ key }) => key.name)).toEqual(['new']);
});
