// Compares how many objects the API server counts with how many the stream shows. This finds what
// was wrong before the last scan, of which neither events nor history tell.
import type { ResourceStatus } from '../../shared/api/metadata-feed.ts';
import type { EpochTask } from './deps.ts';
import { isWhole, type ShownResource } from './feed.ts';
import { isBlocked, type ListProbe, probeList } from './list-probe.ts';
import { SLICES } from './observation.ts';
import { addOutcomes, type OutcomeCounts } from './reconcile-object.ts';
import { repairResource } from './repair-resource.ts';
import type { Replayed } from './replay.ts';
import type { Session } from './session.ts';
import type { StreamSums } from './stream-scan.ts';

/** The counts of one resource, for its status. */
export type Counted = Pick<
  Required<ResourceStatus>,
  'lacking' | 'stray' | 'oversize' | 'oversizeNames'
>;

/**
 * A change between the two counts looks like a difference, too. So a difference counts only when it
 * is the same in two sweeps: the status keeps it, whichever instance runs the next one. Then the
 * resource is listed anew.
 */
export async function checkCounts(
  task: EpochTask,
  replayed: ReadonlyMap<ShownResource, Replayed>,
  probes: ReadonlyMap<ShownResource, ListProbe>,
  sums: StreamSums,
  outcomes: OutcomeCounts,
): Promise<ReadonlyMap<ShownResource, Counted>> {
  const { session } = task;
  const counted = new Map<ShownResource, Counted>();
  for (const [resource, one] of replayed) {
    const probe = probes.get(resource);
    if (probe === undefined) continue;
    const before = session.feed.status.resources?.find(({ name }) => name === resource.name);
    const omitted = one.isListed ? omittedByList(one) : omittedSince(one, before);
    const now = count(session, resource, probe, sums, omitted);
    counted.set(resource, now);
    const isRepeated = (name: 'lacking' | 'stray'): boolean =>
      now[name] > 0 && now[name] === before?.[name];
    const names = (['lacking', 'stray'] as const).filter(isRepeated);
    if (names.length === 0) continue;
    const again = await countAgain(task, resource, sums, now);
    if (!names.some((name) => again[name] > 0)) continue;
    const more = await repairResource(task, resource, probe);
    addOutcomes(outcomes, more.outcomes);
    counted.set(resource, { lacking: 0, stray: 0, ...omittedByList(more) });
  }
  return counted;
}

/** Counts once more before the list: jobs that start each minute are no difference. */
async function countAgain(
  { deps, session, signal }: EpochTask,
  resource: ShownResource,
  sums: StreamSums,
  omitted: Omitted,
): Promise<Pick<Counted, 'lacking' | 'stray'>> {
  const probe = await probeList(deps, resource, signal);
  if (isBlocked(probe)) return { lacking: 0, stray: 0 };
  return count(session, resource, probe, sums, omitted);
}

function count(
  { feed }: Session,
  resource: ShownResource,
  probe: ListProbe,
  { objects, strayParts }: StreamSums,
  { oversize, oversizeNames }: Omitted,
): Counted {
  const shown = (objects.get(resource.name) ?? 0) + oversize;
  // The API server counts all objects; a feed with a selector shows some of them.
  const isCountable = probe.objects !== undefined && isWhole(feed, resource);
  const missing = isCountable ? (probe.objects ?? shown) - shown : 0;
  const parts = resource.name === SLICES ? strayParts : 0;
  const more = (...differences: readonly number[]): number =>
    differences.reduce((sum, difference) => sum + Math.max(0, difference), 0);
  const [lacking, stray] = [more(missing, -parts), more(-missing, parts)];
  return { lacking, stray, oversize, oversizeNames };
}

export type Omitted = Pick<Required<ResourceStatus>, 'oversize' | 'oversizeNames'>;

/** The objects that a list or a history found too large. */
export interface OversizeResult {
  readonly outcomes: Pick<OutcomeCounts, 'oversize'>;
  /** Their names, once for each time that they were found. */
  readonly oversized: readonly string[];
}

/** A few are named, so that a person can find them. */
const NAMED_MAX = 3;

export const omittedByList = ({ outcomes, oversized }: OversizeResult): Omitted => ({
  oversize: outcomes.oversize,
  oversizeNames: oversized.slice(0, NAMED_MAX),
});

/**
 * The count stays until the resource is listed anew. If it is wrong by then, checkCounts finds a
 * difference.
 */
export function omittedSince(
  { oversized }: OversizeResult,
  before: ResourceStatus | undefined,
): Omitted {
  const { oversize = 0, oversizeNames = [] } = before ?? {};
  const names = [...new Set([...oversizeNames, ...oversized])];
  return {
    // An object that is not named may have been counted before. Counting one too few shows as
    // lacking; counting one more at each change would hide a real difference.
    oversize: Math.max(oversize, names.length),
    oversizeNames: names.slice(0, NAMED_MAX),
  };
}
