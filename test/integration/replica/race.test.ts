// Readers that open at any moment while a writer never rests: all of them end with what the stream
// holds, and nobody was ever shown a subject going back.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Replica } from '../../../shared/nats/replica/replica.ts';
import type { FeedWriter } from '../../builders/feed-writer.ts';
import { PATIENCE, type World, node1, node2, pod, untilEqual, withWorld } from './world.ts';

let world: World;

withWorld((opened) => {
  world = opened;
});

const READERS = 20;
const KEYS = 30;

const step = fc.record({
  at: fc.nat(KEYS - 1),
  verb: fc.constantFrom('put', 'put', 'put', 'remove', 'move', 'check'),
});
type Step = typeof step extends fc.Arbitrary<infer Type> ? Type : never;

const places = [node1, node2, 'cluster', 'all'] as const;

async function write(feed: FeedWriter, at: number[], { at: index, verb }: Step): Promise<void> {
  const key = pod(`p${index}`);
  const now = at[index] ?? 0;
  const place = places[now] ?? 'all';
  if (verb === 'put') await feed.put(place, key);
  if (verb === 'remove') await feed.remove(place, key);
  if (verb === 'check')
    await feed.checkpoint(['node.n1', 'node.n2', 'all._'][index % 3] ?? 'all._');
  if (verb !== 'move') return;
  at[index] = (now + 1) % places.length;
  await feed.move(place, places[at[index] ?? 0] ?? 'all', key);
}

/** Collects every version that went back, as a consumer sees it. */
function witness(replica: Replica): string[] {
  const versions = new Map<string, number>();
  const wrongs: string[] = [];
  void (async () => {
    for await (const change of replica.changes()) {
      if (change.type === 'resync') continue;
      const { subject } = change.entry;
      const before = versions.get(subject) ?? 0;
      if (change.version <= before) wrongs.push(`${subject}: ${before}, then ${change.version}`);
      versions.set(subject, change.version);
    }
  })();
  return wrongs;
}

const isShownOn = (node: string) => (subject: string) =>
  subject.startsWith(`node.${node}.`) || subject.startsWith('all.');

test('whenever a reader opens, it ends equal to the stream', async () => {
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 300, maxLength: 600 }),
    fc.array(fc.nat(299), { minLength: READERS, maxLength: READERS }),
    async (steps, openings) => {
      const feed = await world.feed();
      const at: number[] = [];
      const readers: { replica: Replica; wrongs: string[]; isNode: boolean }[] = [];
      for (const [index, each] of steps.entries()) {
        for (const [reader, opening] of openings.entries()) {
          if (opening !== index) continue;
          const isNode = reader % 2 === 0;
          // Some may keep almost nothing while they catch up.
          const bufferLimits = reader % 3 === 0 ? { messages: 2, bytes: 1_000 } : undefined;
          const more = bufferLimits === undefined ? {} : { bufferLimits };
          const replica = world.reader(feed, isNode ? node1 : 'cluster', more);
          readers.push({ replica, wrongs: witness(replica), isNode });
        }
        await write(feed, at, each);
      }
      for (const ledger of ['node.n1', 'node.n2', 'all._', 'cluster._']) {
        await feed.checkpoint(ledger);
      }
      for (const { replica, isNode } of readers) {
        await untilEqual(replica, feed, isNode ? isShownOn('n1') : undefined);
        await replica.whenCurrent({ signal: AbortSignal.timeout(PATIENCE.timeout) });
        expect(replica.counts).toMatchObject({ digestMismatches: 0, gaps: 0, snapshots: 1 });
      }
      expect(readers.flatMap(({ wrongs }) => wrongs)).toEqual([]);
      await Promise.all(readers.map(({ replica }) => replica.close()));
    },
  );
  await fc.assert(property, { numRuns: 4, endOnFailure: true });
});
