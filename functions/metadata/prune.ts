// Writes tombstones for messages that the feed's spec no longer covers, like `kubectl apply
// --prune`: those of resources that were dropped from it, those on subjects it does not have, and
// those that nobody can read.
import { encodeMessage } from '../../shared/feed/messages.ts';
import { holdsObject } from './decide.ts';
import type { EpochTask } from './deps.ts';
import type { Moment } from './observation.ts';
import { publishedFrom, resourceFilter } from './observe.ts';
import { type OutcomeCounts, writeTombstone } from './reconcile-object.ts';
import type { Session } from './session.ts';
import { isConflict } from './steps.ts';
import type { StreamSums } from './stream-scan.ts';
/** Ends the messages of resources that the spec no longer names. */
export async function pruneResources(
  { session, epoch, nowMs, signal }: EpochTask,
  { objects }: StreamSums,
  outcomes: OutcomeCounts,
): Promise<void> {
  const { prefix, resources } = session.feed;
  const names = new Set(resources.map(({ name }) => name));
  for (const name of objects.keys()) {
    if (names.has(name)) continue;
    for await (const stored of session.stream.read(resourceFilter(prefix, name), signal)) {
      const entry = publishedFrom(prefix, stored);
      if (!holdsObject(entry)) continue;
      // The object may still exist. As of its own version it is not shown any more.
      const { resourceVersion = '0' } = entry.message ?? {};
      const options = { epoch, nowMs, resourceVersion, isAuthoritative: true };
      const { outcome } = await writeTombstone(session, entry, options, signal);
      outcomes[outcome] += 1;
    }
  }
}

/**
 * Ends messages on subjects that the feed does not have, which readers of a namespace would
 * otherwise receive, and those that say nothing. A sweep that repaired one was before us.
 */
export async function pruneForeign(
  { feed, stream }: Session,
  { foreign }: StreamSums,
  { epoch, nowMs }: Moment,
  signal: AbortSignal,
): Promise<void> {
  const at = new Date(nowMs).toISOString();
  const tombstone = { deleted: true, epoch, uid: '', resourceVersion: '0', at } as const;
  const data = encodeMessage(tombstone);
  const { tombstoneSeconds: ttlSeconds } = feed.spec.retention;
  for (const { subject, sequence: expectedSequence } of foreign) {
    const message = { subject: `${feed.prefix}.${subject}`, data, expectedSequence, ttlSeconds };
    await stream.publish([message], signal).catch((error: unknown) => {
      if (!isConflict(error)) throw error;
    });
  }
}
