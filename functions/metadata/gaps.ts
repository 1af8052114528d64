// What neither events nor history tell: messages that somebody removed by hand, and those of
// resources that the feed no longer shows.
import type { ResourceStatus } from '../../shared/api/metadata-feed.ts';
import { encodeMessage } from '../../shared/feed/messages.ts';
import { type ConfirmTask, confirm } from './confirm.ts';
import { isLive } from './decide.ts';
import { type ShownResource, isWhole } from './feed.ts';
import { type Head, isBlocked, readHead } from './heads.ts';
import { type LeftOut, leftOutOfList, leftOutSince } from './left-out.ts';
import { type Tally, addTally, buryAt } from './look.ts';
import { publishedFrom, resourceFilter } from './observe.ts';
import { type Replayed, replay } from './replay.ts';
import type { Session } from './session.ts';
import { type Moment, SLICES } from './sight.ts';
import { isConflict } from './steps.ts';
import type { Sums } from './sums.ts';

/** What the counts of one resource say, for its status. */
export type Counted = Pick<
  Required<ResourceStatus>,
  'lacking' | 'stray' | 'oversize' | 'oversizeNames'
>;

/**
 * Counts tell what neither events nor history can: messages that somebody removed by hand. What
 * changes while the two sides are counted looks like a gap, so a gap counts when it stays: the
 * status keeps it until the next sweep, whichever instance that wakes.
 */
export async function fillGaps(
  task: ConfirmTask,
  replayed: ReadonlyMap<ShownResource, Replayed>,
  heads: ReadonlyMap<ShownResource, Head>,
  sums: Sums,
  outcomes: Tally,
): Promise<ReadonlyMap<ShownResource, Counted>> {
  const { session } = task;
  const counted = new Map<ShownResource, Counted>();
  for (const [resource, one] of replayed) {
    const head = heads.get(resource);
    if (head === undefined) continue;
    const before = session.feed.status.resources?.find(({ name }) => name === resource.name);
    const leftOut = one.isListed ? leftOutOfList(one) : leftOutSince(one, before);
    const now = count(session, resource, head, sums, leftOut);
    counted.set(resource, now);
    const isRepeated = (name: 'lacking' | 'stray'): boolean =>
      now[name] > 0 && now[name] === before?.[name];
    const names = (['lacking', 'stray'] as const).filter(isRepeated);
    if (names.length === 0) continue;
    const again = await countAgain(task, resource, sums, now);
    if (!names.some((name) => again[name] > 0)) continue;
    const more = await listAnew(task, resource, head);
    addTally(outcomes, more.outcomes);
    counted.set(resource, { lacking: 0, stray: 0, ...leftOutOfList(more) });
  }
  return counted;
}

/** What began or ended between the two counts, such as the jobs of each minute, is no gap. */
async function countAgain(
  { deps, session, signal }: ConfirmTask,
  resource: ShownResource,
  sums: Sums,
  omitted: LeftOut,
): Promise<Pick<Counted, 'lacking' | 'stray'>> {
  const head = await readHead(deps, resource, signal);
  if (isBlocked(head)) return { lacking: 0, stray: 0 };
  return count(session, resource, head, sums, omitted);
}

/** Also asks about what claims to be of after the list. */
async function listAnew(
  task: ConfirmTask,
  resource: ShownResource,
  head: Head,
): Promise<Pick<Replayed, 'outcomes' | 'oversized'>> {
  const { outcomes, doubts, oversized } = await replay({ ...task, resource, head }, undefined);
  const { lastSequence: before } = await task.session.stream.state(task.signal);
  const tally = { ...outcomes };
  for (const doubt of doubts) {
    for (const outcome of await confirm({ ...task, before }, resource, doubt)) tally[outcome] += 1;
  }
  return { outcomes: tally, oversized };
}

function count(
  { feed }: Session,
  resource: ShownResource,
  head: Head,
  { objects, strayParts }: Sums,
  { oversize, oversizeNames }: LeftOut,
): Counted {
  const shown = (objects.get(resource.name) ?? 0) + oversize;
  // The API server counts all of them, and this feed may show some.
  const isCountable = head.objects !== undefined && isWhole(feed, resource);
  const missing = isCountable ? (head.objects ?? shown) - shown : 0;
  const parts = resource.name === SLICES ? strayParts : 0;
  const more = (...differences: readonly number[]): number =>
    differences.reduce((sum, difference) => sum + Math.max(0, difference), 0);
  const [lacking, stray] = [more(missing, -parts), more(-missing, parts)];
  return { lacking, stray, oversize, oversizeNames };
}

/** A spec that was edited: what it no longer names goes. */
export async function retire(
  { session, epoch, nowMs, signal }: ConfirmTask,
  { objects }: Sums,
  outcomes: Tally,
): Promise<void> {
  const { prefix, resources } = session.feed;
  const names = new Set(resources.map(({ name }) => name));
  for (const name of objects.keys()) {
    if (names.has(name)) continue;
    for await (const stored of session.stream.read(resourceFilter(prefix, name), signal)) {
      const entry = publishedFrom(prefix, stored);
      if (!isLive(entry)) continue;
      // It may well be there still: as of its own version it is not shown any more.
      const { resourceVersion = '0' } = entry.message ?? {};
      const options = { epoch, nowMs, resourceVersion, isTruth: true };
      const { outcome } = await buryAt(session, entry, options, signal);
      outcomes[outcome] += 1;
    }
  }
}

/** Subjects that the feed does not have: readers of namespaces would meet what stands there. */
export async function expel(
  { feed, stream }: Session,
  { strangers }: Sums,
  { epoch, nowMs }: Moment,
  signal: AbortSignal,
): Promise<void> {
  const at = new Date(nowMs).toISOString();
  const tombstone = { deleted: true, epoch, uid: '', resourceVersion: '0', at } as const;
  const data = encodeMessage(tombstone);
  const { tombstoneSeconds: ttlSeconds } = feed.spec.retention;
  for (const { subject, sequence: expectedSequence } of strangers) {
    const message = { subject: `${feed.prefix}.${subject}`, data, expectedSequence, ttlSeconds };
    await stream.publish([message], signal).catch((error: unknown) => {
      if (!isConflict(error)) throw error;
    });
  }
}
