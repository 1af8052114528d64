// The reader in Go of docs/example-go, on a feed that is written by hand: what the chaos of
// test/integration/feed/faults does not do to it.
import { afterEach, expect, test } from 'vitest';
import { encodeMessage } from '../../../shared/feed/messages.ts';
import type { FeedWriter } from '../../builders/feed-writer.ts';
import { GoReader, type GoScope } from '../../chaos/go-reader.ts';
import { PATIENCE, type World, heldBy, node1, node2, pod, withWorld } from './world.ts';

let world: World;
const open: GoReader[] = [];

withWorld((opened) => {
  world = opened;
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((reader) => reader.close()));
});

async function readerOf({ feed }: FeedWriter, scope: GoScope = 'cluster'): Promise<GoReader> {
  const reader = new GoReader({ url: world.url, feed, scope, isSlandered: () => false });
  open.push(reader);
  await reader.open();
  return reader;
}

const held = (reader: GoReader): Readonly<Record<string, number>> =>
  Object.fromEntries([...reader.held].map(([subject, { version }]) => [subject, version]));

/** It holds what was written there, and says that it is current. */
async function untilWhole(
  reader: GoReader,
  feed: FeedWriter,
  isShown?: (subject: string) => boolean,
): Promise<void> {
  await expect.poll(() => held(reader), PATIENCE).toEqual(feed.alive(isShown));
  await expect.poll(() => reader.state.phase, PATIENCE).toBe('current');
}

test('a node is read in pages, large messages too, and then as it changes', async () => {
  const feed = await world.feed();
  const fields = { text: 'x'.repeat(300_000) };
  for (let at = 0; at < 8; at += 1) await feed.put(node1, pod(`large-${at}`), { fields });
  const names = Array.from({ length: 1_200 }, (_, index) => pod(`small-${index}`));
  for (let at = 0; at < names.length; at += 100) {
    await Promise.all(names.slice(at, at + 100).map((key) => feed.put(node1, key)));
  }
  await feed.put(node2, pod('of-another'));
  await feed.put('all', pod('of-all', ''));
  await feed.checkpoint('node.n1');
  const reader = await readerOf(feed, node1);
  const isShown = (subject: string): boolean => !subject.startsWith('node.n2.');
  await untilWhole(reader, feed, isShown);
  expect(reader.state.verified).toBeGreaterThan(0);
  await feed.put(node1, pod('small-0'), { phase: 'Running' });
  await feed.remove(node1, pod('small-1'));
  await feed.move(node1, node2, pod('small-2'));
  await feed.move(node2, node1, pod('of-another'));
  const checkpoint = await feed.checkpoint('node.n1');
  await untilWhole(reader, feed, isShown);
  await expect.poll(() => reader.state.verified, PATIENCE).toBe(checkpoint);
  expect(reader.state.snapshots).toBe(1);
});

test('a live message that never came is noticed by the next one on its subject', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a'));
  const reader = await readerOf(feed);
  await untilWhole(reader, feed);
  await feed.silently(async () => {
    await feed.put(node1, pod('a'));
    await feed.put(node1, pod('b'));
  });
  await feed.put(node1, pod('b'));
  await untilWhole(reader, feed);
  expect(reader.state.snapshots).toBe(2);
});

test('also when others came in between, and nothing else is missing', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a'));
  const reader = await readerOf(feed);
  await untilWhole(reader, feed);
  await feed.silently(async () => void (await feed.put(node1, pod('a'))));
  await feed.put(node1, pod('b'));
  await feed.put(node1, pod('a'));
  await untilWhole(reader, feed);
  expect(reader.state.snapshots).toBe(2);
});

test('what nobody stored is not taken, however it looks', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a'));
  const reader = await readerOf(feed);
  await untilWhole(reader, feed);
  const forged = encodeMessage(feed.object(node1, pod('a'), { phase: 'Failed' }));
  await feed.forge('node.n1.pods.web.a', forged);
  await feed.forge('node.n1.pods.web.ghost', forged);
  await feed.put(node1, pod('after'));
  await untilWhole(reader, feed);
  expect(reader.state.snapshots).toBe(1);
});

const START = '"epoch":1,"uid":"u","resourceVersion":"1"';
const WHOLE = `${START},"kind":"Pod","name":"a"`;
const nodes = (list: string): string => `{${WHOLE},"nodes":${list}}`;
/** Bytes of which all readers have to say alike whether they can be read. */
const DOUBTFUL: readonly (string | Uint8Array)[] = [
  `{${WHOLE}}`,
  ` {${WHOLE}}\n`,
  `\uFEFF{${WHOLE}}`,
  `{${WHOLE}} {}`,
  `[{${WHOLE}}]`,
  'null',
  `{${WHOLE},"epoch":"1"}`,
  `{${WHOLE},"epoch":1e999}`,
  `{${WHOLE},"uid":null}`,
  `{"epoch":"x",${WHOLE}}`,
  `{${START},"Kind":"Pod","name":"a"}`,
  `{${START},"deleted":true}`,
  `{${START},"deleted":false}`,
  `{${WHOLE},"deleted":false}`,
  `{${WHOLE},"Deleted":true}`,
  nodes('null'),
  nodes('[]'),
  nodes('["n1"]'),
  nodes('[""]'),
  nodes('[null]'),
  nodes('{}'),
  nodes(`["${'x'.repeat(253)}"]`),
  nodes(`["${'x'.repeat(254)}"]`),
  nodes(`["${'😀'.repeat(126)}"]`),
  nodes(`["${'😀'.repeat(127)}"]`),
  Buffer.from(`{${WHOLE},"node":"\xff"}`, 'latin1'),
  `{${WHOLE},"node":"\\ud800"}`,
];

test('it reads what our own reader reads, and nothing else', async () => {
  const feed = await world.feed();
  for (const [at, bytes] of DOUBTFUL.entries()) {
    // On each subject stands an object, which a tombstone takes away.
    await feed.put(node1, pod(`p${at}`));
    await feed.raw(`node.n1.pods.web.p${at}`, bytes);
    await feed.raw(`node.n1.pods.web.q${at}`, bytes);
  }
  await feed.raw('strange.n1.pods.web.a', `{${WHOLE}}`);
  await feed.raw('all.n1.pods.web.a', `{${WHOLE}}`);
  const ours = world.reader(feed);
  await expect.poll(() => ours.state, PATIENCE).toMatchObject({ phase: 'current' });
  const reader = await readerOf(feed);
  await expect.poll(() => held(reader), PATIENCE).toEqual(heldBy(ours));
  await feed.put(node1, pod('after'));
  const bytes = `{${WHOLE}}`;
  for (const [at, doubtful] of DOUBTFUL.entries()) {
    await feed.raw(`node.n1.pods.web.r${at}`, bytes);
    await feed.raw(`node.n1.pods.web.r${at}`, doubtful);
  }
  const version = await feed.put(node1, pod('last'));
  await expect.poll(() => ours.state, PATIENCE).toMatchObject({ phase: 'current', version });
  await expect.poll(() => held(reader), PATIENCE).toEqual(heldBy(ours));
});

test('a wrong checkpoint is told, costs one snapshot, and is over with a right one', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a'));
  const reader = await readerOf(feed, node1);
  await untilWhole(reader, feed);
  const wrong = await feed.checkpoint('node.n1', { objects: 5 });
  await expect.poll(() => reader.state.snapshots, PATIENCE).toBe(2);
  await expect.poll(() => reader.state.phase, PATIENCE).toBe('wrong');
  expect(reader.state.why).toContain(`node.n1 at ${wrong} has 5 objects`);
  await feed.put(node1, pod('b'));
  await expect.poll(() => held(reader), PATIENCE).toEqual(feed.alive());
  const right = await feed.checkpoint('node.n1');
  await expect.poll(() => reader.state.verified, PATIENCE).toBe(right);
  expect(reader.state).toMatchObject({ phase: 'current', snapshots: 2 });
});

test('a feed that begins anew is waited for, and what differs then is told', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('stays'));
  await feed.put(node1, pod('goes'));
  const reader = await readerOf(feed);
  await untilWhole(reader, feed);
  const before = held(reader);
  await feed.delete();
  await feed.begin({ ready: false });
  await expect.poll(() => reader.state.phase, PATIENCE).toBe('waiting');
  expect(held(reader)).toEqual(before);
  await feed.put(node1, pod('stays'));
  await feed.put(node1, pod('comes'));
  await feed.mark();
  await untilWhole(reader, feed);
});

test('a stream that lost its end is noticed by its sequences, also under the same id', async () => {
  const feed = await world.feed();
  for (const name of ['a', 'b', 'c']) await feed.put(node1, pod(name));
  const reader = await readerOf(feed);
  await untilWhole(reader, feed);
  await feed.put(node1, pod('live'));
  await untilWhole(reader, feed);
  await feed.delete();
  await feed.create();
  await feed.silently(async () => void (await feed.mark()));
  await feed.put(node1, pod('a'));
  await untilWhole(reader, feed);
  expect(reader.state.snapshots).toBe(2);
});

test('without a floor it is stale, until one comes', async () => {
  const feed = await world.writer();
  await feed.create();
  await feed.mark();
  const reader = await readerOf(feed);
  await expect
    .poll(() => reader.state, PATIENCE)
    .toMatchObject({ phase: 'current', isStale: true });
  await feed.floor(0);
  await expect.poll(() => reader.state.isStale, PATIENCE).toBe(false);
});

test('a login that the server refuses is said', async () => {
  const feed = await world.feed();
  const reader = new GoReader({
    url: world.writerUrl.replace(/\/\/[^@]*@/, '//nobody:wrong@'),
    feed: feed.feed,
    scope: node1,
    isSlandered: () => false,
  });
  open.push(reader);
  await reader.open();
  await expect.poll(() => reader.state.why, PATIENCE).toMatch(/authorization/i);
  expect(reader.state.phase).toBe('connecting');
});
