// A stream on three servers, of which one was killed and holds what the others forgot.
import { afterEach, expect, test } from 'vitest';
import { holdsObject } from '../../../functions/metadata/decide.ts';
import { feedOf } from '../../../functions/metadata/feed.ts';
import { readSubjects } from '../../../functions/metadata/observe.ts';
import { writeTombstone } from '../../../functions/metadata/reconcile-object.ts';
import { Session } from '../../../functions/metadata/session.ts';
import { encodeMessage } from '../../../shared/feed/messages.ts';
import { type ObjectKey, subjectOf } from '../../../shared/feed/subjects.ts';
import { NO_ACCESS } from '../../../shared/nats/access.ts';
import { FEED, Servers } from '../nats/attacks/servers.ts';
import { soon } from './world.ts';

const LONG = { timeout: 60_000, interval: 50 };
/** Any of three servers answers a read. */
const READS = 30;
const NODE = { node: 'n1' };
const KEY: ObjectKey = { resource: 'pods', namespace: 'web', name: 'a' };
const PLACE = subjectOf(NODE, KEY);

let servers: Servers;
let session: Session;

afterEach(async () => {
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

/** What so many reads, one after another, find on the subject. */
async function found(): Promise<readonly string[]> {
  const all = new Set<string>();
  for (let left = READS; left > 0; left -= 1) {
    const [entry] = await readSubjects(session, [PLACE], soon());
    if (entry === undefined) all.add('nothing');
    else all.add(holdsObject(entry) ? 'object' : 'tombstone');
  }
  return [...all].toSorted();
}

test('an object that one server alone has not forgotten is ended on all', async () => {
  servers = await Servers.start('npm start', 3);
  session = sessionOf(servers.url('metadata'));
  const gone = { deleted: true, epoch: 1, uid: '', resourceVersion: '9', at: '' } as const;
  await servers.feed.raw(PLACE, encodeMessage(gone), { 'Nats-TTL': '1s' });
  await expect.poll(found, LONG).toEqual(['nothing']);
  await servers.killAndStart(2);
  await expect.poll(found, LONG).toEqual(['nothing', 'object']);
  let [entry] = await readSubjects(session, [PLACE], soon());
  while (entry === undefined) [entry] = await readSubjects(session, [PLACE], soon());
  const options = { epoch: 1, nowMs: 0, resourceVersion: '1000', isAuthoritative: false };
  const { outcome } = await writeTombstone(session, entry, options, soon());
  expect(outcome).toBe('published');
  await expect.poll(found, LONG).toEqual(['tombstone']);
});
