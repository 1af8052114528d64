// A stream on three servers, of which one was killed and holds what the others forgot.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { holdsObject } from '../../../functions/metadata/decide.ts';
import { feedOf } from '../../../functions/metadata/feed.ts';
import { readSubjects } from '../../../functions/metadata/observe.ts';
import { writeTombstone } from '../../../functions/metadata/reconcile-object.ts';
import { Session } from '../../../functions/metadata/session.ts';
import { encodeMessage } from '../../../shared/feed/messages.ts';
import { subjectOf } from '../../../shared/feed/subjects.ts';
import { NO_ACCESS } from '../../../shared/nats/access.ts';
import { openReplica } from '../../../shared/nats/replica/replica.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { FEED, Servers } from '../nats/attacks/servers.ts';
import { createPod, removePod } from './objects.ts';
import { FeedWorld, soon } from './world.ts';

const LONG = { timeout: 60_000, interval: 50 };
/** Any of three servers answers a read. */
const READS = 30;
const NODE = { node: 'n1' };

let servers: Servers;
let world: FeedWorld | undefined;
let session: Session;

beforeEach(async () => {
  servers = await Servers.start('npm start', 3);
  session = sessionOf(servers.url('metadata'));
});

afterEach(async () => {
  await world?.stop();
  world = undefined;
  await session?.close();
  await servers?.stop();
});

function sessionOf(url: string): Session {
  const spec = {
    stream: { replicas: 3, storage: 'File' },
    retention: { tombstoneSeconds: 3_600, historySeconds: 600 },
    sweepSeconds: 60,
  };
  const object = { apiVersion: 'v', kind: 'MetadataFeed', metadata: { name: FEED }, spec };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what else it has is not used
  const feed = feedOf(object as unknown as Parameters<typeof feedOf>[0]);
  return new Session(feed, { url, access: NO_ACCESS });
}

/** The results of so many reads of the subject, one after another. */
async function found(place: string): Promise<readonly string[]> {
  const all = new Set<string>();
  for (let left = READS; left > 0; left -= 1) {
    const [entry] = await readSubjects(session, [place], soon());
    if (entry === undefined) all.add('nothing');
    else all.add(holdsObject(entry) ? 'object' : 'tombstone');
  }
  return [...all].toSorted();
}

async function forget(place: string): Promise<void> {
  const gone = { deleted: true, epoch: 1, uid: '', resourceVersion: '9', at: '' } as const;
  await servers.feed.raw(place, encodeMessage(gone), { 'Nats-TTL': '1s' });
  await expect.poll(() => found(place), LONG).toEqual(['nothing']);
}

/** A server that is killed has what was forgotten. */
async function bringBack(one: number, place: string): Promise<void> {
  await servers.killAndStart(one);
  await expect.poll(() => found(place), LONG).toEqual(['nothing', 'object']);
}

test('an object that one server alone has not forgotten is ended on all', async () => {
  const place = subjectOf(NODE, { resource: 'pods', namespace: 'web', name: 'a' });
  await forget(place);
  await bringBack(2, place);
  let [entry] = await readSubjects(session, [place], soon());
  while (entry === undefined) [entry] = await readSubjects(session, [place], soon());
  const options = { epoch: 1, nowMs: 0, resourceVersion: '1000', isAuthoritative: false };
  const { outcome } = await writeTombstone(session, entry, options, soon());
  expect(outcome).toBe('published');
  await expect.poll(() => found(place), LONG).toEqual(['tombstone']);
});

test('sweeps end it once one of them reads it, and no checkpoint ever counts it', async () => {
  world = await FeedWorld.on(sharedPlane());
  const { kube } = world;
  const retention = { tombstoneSeconds: 240, historySeconds: 0 };
  await world.createFeed(FEED, { stream: { replicas: 3 }, retention });
  const { sweep } = await world.startFunction({ NATS_URL: servers.url('metadata') });
  await createPod(kube, 'a', 'n1');
  await expect.poll(sweep, LONG).toBe(204);
  const reader = openReplica({ url: servers.url('n1'), feed: FEED, scope: NODE });
  await reader.whenCurrent({ signal: soon() });
  const place = subjectOf(NODE, { resource: 'pods', namespace: 'default', name: 'a' });
  // Each a minute later: nothing guards the place of an object that is older than tombstones live.
  for (let minutes = 0; minutes < 5; minutes += 1) await expect.poll(sweep, LONG).toBe(204);
  await forget(place);
  await removePod(kube, 'a');
  await expect.poll(sweep, LONG).toBe(204);
  await bringBack(2, place);
  await expect
    .poll(async () => {
      await sweep();
      return found(place);
    }, LONG)
    .not.toContain('object');
  await expect.poll(sweep, LONG).toBe(204);
  const { version = 0 } = await world.status(FEED);
  await reader.whenCurrent({ minVersion: version, signal: soon() });
  expect(reader.counts.digestMismatches).toBe(0);
  await reader.close();
});
