// Scans the stream and compares it with what the last sweep left there. A message of that time that
// came back, went or changed is something that neither events nor history tell of, so its resource
// is listed anew, and the stream is scanned again before anything is said about it.
import type { ScopeStatus } from '../../shared/api/metadata-feed.ts';
import { forEachLimited } from '../../shared/function/for-each-limited.ts';
import { floorTimeMs } from './checkpoints.ts';
import type { Published } from './decide.ts';
import type { EpochTask } from './deps.ts';
import type { ShownResource } from './feed.ts';
import type { LastScan, SweepMoment } from './last-scan.ts';
import type { ListProbe } from './list-probe.ts';
import { isPlaced } from './observation.ts';
import { addOutcomes, noOutcomes, type OutcomeCounts, writeTombstone } from './reconcile-object.ts';
import { repairResource } from './repair-resource.ts';
import type { Replayed } from './replay.ts';
import { scopesOf } from './status.ts';
import { scanStream, type StreamScan } from './stream-scan.ts';

export interface Compared {
  readonly scanned: StreamScan;
  /** A resource that was listed anew has its list here instead of its replay. */
  readonly replayed: ReadonlyMap<ShownResource, Replayed>;
}

export async function scanCompared(
  task: EpochTask & SweepMoment,
  replayed: ReadonlyMap<ShownResource, Replayed>,
  probes: ReadonlyMap<ShownResource, ListProbe>,
  outcomes: OutcomeCounts,
): Promise<Compared> {
  const { deps, session, nowMs, signal } = task;
  const floorMs = floorTimeMs(session, nowMs);
  const scan = (before?: LastScan): Promise<StreamScan> =>
    scanStream(session, { floorMs, before }, deps.clock, signal);
  const before = session.takeLastScan(task);
  const scanned = await scan(before);
  const suspects = suspectsIn(task, scanned, before);
  const compared = new Map(replayed);
  const found = noOutcomes();
  for (const [resource, { isListed }] of replayed) {
    const probe = probes.get(resource);
    if (isListed || probe === undefined || !suspects(resource)) continue;
    const listed = await repairResource(task, resource, probe);
    compared.set(resource, listed);
    addOutcomes(found, listed.outcomes);
    if (before !== undefined)
      await endUnlisted(task, listed, before.cameBack(resource.name), found);
  }
  addOutcomes(outcomes, found);
  const isSame = found.published + found.unfounded === 0;
  return { scanned: isSame ? scanned : await scan(), replayed: compared };
}

/**
 * A list ends what it finds in the stream. In a cluster the message may be on one server alone,
 * which the list does not happen to read.
 */
async function endUnlisted(
  { session, epoch, nowMs, signal }: EpochTask,
  { resourceVersion, confirmed }: Replayed,
  entries: readonly Published[],
  outcomes: OutcomeCounts,
): Promise<void> {
  if (session.stream.settings.replicas === 1) return;
  const options = { epoch, nowMs, resourceVersion, isAuthoritative: false };
  const unlisted = entries.filter(({ subject }) => !confirmed.has(subject));
  await forEachLimited(unlisted, signal, async (entry) => {
    const { outcome } = await writeTombstone(session, entry, options, signal);
    outcomes[outcome] += 1;
  });
}

type IsSuspect = (resource: ShownResource) => boolean;

export function suspectsIn(
  { session }: Pick<EpochTask, 'session'>,
  { version, sums }: StreamScan,
  before: LastScan | undefined,
): IsSuspect {
  // Servers that do not agree show a mixture of times. Then InSync is Unknown, and the status says
  // no digests, by which the next sweep suspects everything, whichever instance runs it.
  if (version === undefined) return () => false;
  if (before !== undefined) {
    const { changed } = before;
    return ({ name }) => changed.has(name);
  }
  // This instance has not swept yet, or not for long: only a stream that is still the one of the
  // status is known to have nothing behind its back.
  const { scopes = [] } = session.feed.status;
  const now = scopesOf(sums);
  const isSame = (name: ScopeStatus['name']): boolean =>
    scopes.find((one) => one.name === name)?.digest ===
    now.find((one) => one.name === name)?.digest;
  const [isAll, isPlacedSame] = [isSame('all'), isSame('node') && isSame('cluster')];
  return (resource) => (isPlaced(resource) ? !isPlacedSame : !isAll);
}

/** For the next sweep, once this one has succeeded. */
export function lastScanOf(
  { version, sums }: StreamScan,
  { epoch, streamId, nowMs }: SweepMoment,
): LastScan | undefined {
  return version === undefined ? undefined : sums.asLastScan({ epoch, streamId, nowMs, version });
}
