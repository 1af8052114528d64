// What neither events nor history tell: messages that somebody removed by hand, and those of
// resources that the feed no longer shows.
import type { Audit } from './audit.ts';
import type { ConfirmTask } from './confirm.ts';
import { isLive } from './decide.ts';
import { type ShownResource, isWhole } from './feed.ts';
import type { Head } from './heads.ts';
import { type Tally, addTally, buryAt } from './look.ts';
import { publishedFrom, resourceFilter } from './observe.ts';
import { replay } from './replay.ts';

/**
 * Counts tell what neither events nor history can: messages that somebody removed by hand. What
 * changes while the two sides are counted looks like a gap, so a gap counts when it stays.
 */
export async function fillGaps(
  task: ConfirmTask,
  heads: ReadonlyMap<ShownResource, Head>,
  sums: Audit,
  outcomes: Tally,
): Promise<void> {
  const { session } = task;
  for (const [resource, head] of heads) {
    if (head.objects === undefined || !isWhole(session.feed, resource)) continue;
    const shown =
      (sums.objects.get(resource.name) ?? 0) + (session.tooLarge.get(resource.name) ?? 0);
    const lacking = head.objects - shown;
    const isSame = lacking !== 0 && session.lacking.get(resource.name) === lacking;
    session.lacking.set(resource.name, isSame ? 0 : lacking);
    if (!isSame) continue;
    const { outcomes: more } = await replay({ ...task, resource, head }, undefined);
    session.tooLarge.set(resource.name, more.oversize);
    addTally(outcomes, more);
  }
}

/** A spec that was edited: what it no longer names goes. */
export async function retire(
  { session, epoch, nowMs, signal }: ConfirmTask,
  { objects }: Audit,
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
