// Ledgers that never rest are verified like all others: the sweep's own audit and checkpoints, on a
// stream to which 200 messages a second are written meanwhile.
import { afterEach, expect, test } from 'vitest';
import { scanStream } from '../../../functions/metadata/stream-scan.ts';
import { writeCheckpoints } from '../../../functions/metadata/checkpoints.ts';
import { feedOf } from '../../../functions/metadata/feed.ts';
import { Session } from '../../../functions/metadata/session.ts';
import { systemClock } from '../../../shared/clock.ts';
import { encodeMessage } from '../../../shared/feed/messages.ts';
import { checkpointSubject } from '../../../shared/feed/subjects.ts';
import { NO_ACCESS } from '../../../shared/nats/access.ts';
import type { Replica } from '../../../shared/nats/replica/replica.ts';
import type { FeedWriter } from '../../builders/feed-writer.ts';
import {
  PATIENCE,
  type World,
  heldBy,
  node1,
  pod,
  stored,
  untilEqual,
  withWorld,
} from './world.ts';

const PER_ROUND = 20;
const ROUND_MS = 100;
const NODES = 8;
const SWEEPS = 5;
const soon = (): AbortSignal => AbortSignal.timeout(30_000);

let world: World;
let end: (() => Promise<void>) | undefined;

withWorld((opened) => {
  world = opened;
});

afterEach(async () => {
  await end?.();
  end = undefined;
});

async function sweptFeed(): Promise<{ readonly feed: FeedWriter; readonly session: Session }> {
  const feed = await world.writer();
  const spec = {
    stream: { replicas: 1, storage: 'File' },
    retention: { tombstoneSeconds: 3_600, historySeconds: 600 },
    sweepSeconds: 60,
  };
  const object = { apiVersion: 'v', kind: 'MetadataFeed', metadata: { name: feed.feed }, spec };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what else it has is not used
  const session = new Session(feedOf(object as unknown as Parameters<typeof feedOf>[0]), {
    url: world.writerUrl,
    access: NO_ACCESS,
  });
  // It makes the stream.
  await session.stream.state(soon());
  await feed.mark();
  await feed.floor(0);
  return { feed, session };
}

/** Pods come, change, move and go on every node, until it is ended. */
function churn(feed: FeedWriter): () => Promise<void> {
  const over = new AbortController();
  let step = 0;
  const one = async (): Promise<void> => {
    step += 1;
    const place = { node: `n${step % NODES}` };
    const key = pod(`p${step % 40}`, `ns${step % 3}`);
    if (step % 5 === 0) await feed.put('cluster', pod(`p${step % 15}`));
    else if (step % 7 === 0) await feed.remove(place, key);
    else if (step % 11 === 0) await feed.put('all', pod(`node-${step % NODES}`, ''));
    else await feed.put(place, key, { phase: `${step}` });
  };
  const running = (async () => {
    let nextMs = Date.now();
    while (!over.signal.aborted) {
      for (let left = PER_ROUND; left > 0; left -= 1) await one();
      // A writer that was held up writes more at once, but not for ever.
      nextMs = Math.max(nextMs, Date.now() - ROUND_MS) + ROUND_MS;
      const leftMs = Math.max(0, nextMs - Date.now());
      await systemClock.sleep(leftMs, over.signal).catch(() => undefined);
    }
  })();
  return () => {
    over.abort();
    return running;
  };
}

/** Answers the version that the checkpoints are of. */
async function sweep(session: Session): Promise<number> {
  const scanned = await scanStream(session, { floorMs: 0 }, systemClock, soon());
  await writeCheckpoints(session, scanned, 1, soon());
  return scanned.version ?? 0;
}

const unverified = (replica: Replica, version: number): readonly string[] =>
  replica.ledgers.filter(({ verified }) => verified <= version).map(({ name }) => name);

test('every ledger is verified by each sweep, also while 200 changes a second come', async () => {
  const { feed, session } = await sweptFeed();
  const scopes = ['cluster', node1, { namespaces: ['ns1', 'web'] }] as const;
  const readers = scopes.map((scope) => world.reader(feed, scope));
  end = churn(feed);
  await Promise.all(readers.map((reader) => reader.whenCurrent()));
  const written = async (): Promise<number> => (await session.stream.state(soon())).lastSequence;
  for (let left = SWEEPS; left > 0; left -= 1) {
    // By then something of every ledger was written.
    await expect.poll(written, PATIENCE).toBeGreaterThan((await written()) + 200);
    const version = await sweep(session);
    for (const reader of readers) {
      await expect.poll(() => unverified(reader, version), PATIENCE).toEqual([]);
    }
  }
  const ledgers = readers.map((reader) => reader.ledgers.length);
  expect(ledgers).toEqual([NODES + 2, 2, 3]);
  for (const { counts } of readers) {
    expect(counts).toMatchObject({ digestMismatches: 0, gaps: 0, snapshots: 1 });
  }
  await session.close();
});

test('a reader that lost two tombstones of a ledger that never rests heals', async () => {
  const { feed, session } = await sweptFeed();
  const lost = [pod('lost-1'), pod('lost-2')];
  for (const key of lost) await feed.put('cluster', key);
  const before = world.reader(feed, 'cluster');
  await before.whenCurrent();
  const bookmark = stored(before);
  await before.close();
  let version = 0;
  for (const key of lost) version = await feed.remove('cluster', key);
  const reader = world.reader(feed, 'cluster', { resumeFrom: { ...bookmark, version } });
  end = churn(feed);
  await reader.whenCurrent({ minVersion: version + 50 });
  expect(Object.keys(heldBy(reader))).toContain('cluster._.pods.web.lost-1');
  await sweep(session);
  await expect.poll(() => reader.counts.heals, PATIENCE).toBe(1);
  await reader.whenCurrent();
  const next = await sweep(session);
  await expect.poll(() => unverified(reader, next), PATIENCE).toEqual([]);
  await end();
  await untilEqual(reader, feed);
  expect(reader.counts).toMatchObject({ digestMismatches: 1, heals: 1, snapshots: 1 });
  await session.close();
});

test('a checkpoint that another instance wrote later is not replaced by an older one', async () => {
  const { feed, session } = await sweptFeed();
  await feed.put(node1, pod('a'));
  const older = await scanStream(session, { floorMs: 0 }, systemClock, soon());
  await feed.put(node1, pod('b'));
  const version = await sweep(session);
  await writeCheckpoints(session, older, 1, soon());
  const subject = `${session.feed.prefix}.${checkpointSubject('node.n1')}`;
  const read = async (): Promise<unknown> => {
    const found = (await session.stream.last([subject], soon())).get(subject);
    return found && JSON.parse(new TextDecoder().decode(found.data));
  };
  expect(await read()).toMatchObject({ version, objects: 2 });
  // Nobody can keep the next ones away by one of the future.
  const forged = { epoch: 1, version: 2 ** 52, objects: 2, digest: '0'.repeat(16) };
  await feed.raw(checkpointSubject('node.n1'), encodeMessage(forged));
  await sweep(session);
  expect(await read()).toMatchObject({ objects: 2, digest: expect.not.stringMatching(/^0+$/) });
  await feed.raw(checkpointSubject('node.n1'), 'not a checkpoint');
  await sweep(session);
  expect(await read()).toMatchObject({ objects: 2 });
  await session.close();
});
