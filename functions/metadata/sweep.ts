// The sweep makes the stream equal to the API server, whatever events were lost, doubled, forged or
// late, and records the version up to which that holds. It costs the API server what changed since
// the last sweep. It lists only resources that it has never read, whose history the API server has
// dropped, or whose messages changed though nobody wrote them.
import { parseSubject } from '../../shared/feed/subjects.ts';
import { forEachLimited } from '../../shared/function/for-each-limited.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { writeCheckpoints, writeFloor } from './checkpoints.ts';
import { checkCounts, type Counted } from './count-check.ts';
import { compareVersions } from './decide.ts';
import type { EpochTask, FeedTask } from './deps.ts';
import {
  detectRollback,
  type EpochStart,
  markerOf,
  type NewEpochReason,
  putMarker,
  reasonForNewEpoch,
  recordStatusWritten,
  requireEpoch,
  startEpoch,
} from './epoch.ts';
import type { Feed, ShownResource } from './feed.ts';
import { type Blocked, blockedBy, isBlocked, type ListProbe, probeList } from './list-probe.ts';
import { pruneForeign, pruneResources } from './prune.ts';
import { addOutcomes, noOutcomes, type OutcomeCounts } from './reconcile-object.ts';
import { replay, type Replayed } from './replay.ts';
import { lastScanOf, scanCompared } from './scan-compared.ts';
import type { Session } from './session.ts';
import { type Swept, type SweptResource, writeEpochStart, writeSwept } from './status.ts';
import { unverifiedIn, verifyLive } from './verify-live.ts';

export async function sweep(task: FeedTask): Promise<Swept> {
  const { deps, session, signal } = task;
  // Kept as it is now: a concurrent read of the feed must not hide that its spec was edited during
  // the sweep.
  const { feed: feedAtStart } = session;
  const { probes, blocked } = await probeAll(task);
  const { epochStart, reason, isSure, feed } = await resolveEpoch(task, feedAtStart, probes);
  const moment = { epoch: epochStart.epoch, nowMs: deps.clock.nowMs() };
  const epochTask = { ...moment, deps, session, signal };
  const outcomes = noOutcomes();
  const isKnown = reason === undefined && isCurrent(session);
  const changes = await replayAll({ ...epochTask, isKnown, isSure }, probes, blocked, outcomes);
  const version = await verifyRest(epochTask, reason === undefined, changes, outcomes);
  const scanTask = { ...epochTask, ...epochStart };
  const { scanned, replayed } = await scanCompared(scanTask, changes, probes, outcomes);
  const { sums, floor } = scanned;
  await requireEpoch(session, epochStart, signal);
  // Written first: readers remember only for a short while what they held at a version.
  await writeCheckpoints(session, scanned, epochStart.epoch, signal);
  const counted = await checkCounts(epochTask, replayed, probes, sums, outcomes);
  await pruneResources(epochTask, sums, outcomes);
  await pruneForeign(session, sums, moment, signal);
  await requireEpoch(session, epochStart, signal);
  const swept: Swept = {
    epochStart,
    reason,
    version,
    floorSequence: await writeFloor(session, floor, signal),
    resources: [...replayed].map(([resource, one]) => {
      const objects = sums.objects.get(resource.name) ?? 0;
      const counts = { objects, nowMs: moment.nowMs, ...counted.get(resource) };
      return statusOf(session, resource, one, counts);
    }),
    blocked,
    outcomes,
    sums,
    isOfOneTime: scanned.version !== undefined,
  };
  await setReady(session, swept, signal);
  session.feed = await writeSwept(deps, session, feed, swept, signal);
  const { floorSequence } = swept;
  await recordStatusWritten(session, { epoch: epochStart.epoch, floorSequence }, sums, signal);
  session.noteLastScan(lastScanOf(scanned, scanTask));
  return swept;
}

interface Probed {
  readonly probes: ReadonlyMap<ShownResource, ListProbe>;
  readonly blocked: Map<string, Blocked>;
}

async function probeAll({ deps, session, signal }: FeedTask): Promise<Probed> {
  const probes = new Map<ShownResource, ListProbe>();
  const blocked = new Map<string, Blocked>();
  await forEachLimited(session.feed.resources, signal, async (resource) => {
    const probe = await probeList(deps, resource, signal);
    if (isBlocked(probe)) blocked.set(resource.name, probe);
    else probes.set(resource, probe);
  });
  return { probes, blocked };
}

async function replayAll(
  { isKnown, isSure, ...task }: EpochTask & { readonly isKnown: boolean; isSure: boolean },
  probes: ReadonlyMap<ShownResource, ListProbe>,
  blocked: Map<string, Blocked>,
  outcomes: OutcomeCounts,
): Promise<ReadonlyMap<ShownResource, Replayed>> {
  const { session, signal } = task;
  const replayed = new Map<ShownResource, Replayed>();
  const verified = isKnown ? (session.feed.status.resources ?? []) : [];
  await forEachLimited(probes, signal, async ([resource, probe]) => {
    const before = verified.find(({ name }) => name === resource.name)?.resourceVersion;
    // History does not tell about messages that the stream had and lost.
    const from = isSure ? before : undefined;
    const one = await replay({ ...task, resource, probe }, from).catch(blockedBy);
    if (isBlocked(one)) {
      blocked.set(resource.name, one);
      return;
    }
    replayed.set(resource, one);
    // A first publication repairs nothing, so it is not counted as healed.
    if (before === undefined) session.counts.published += one.outcomes.published;
    addOutcomes(outcomes, before === undefined ? { ...one.outcomes, published: 0 } : one.outcomes);
  });
  return replayed;
}

/**
 * Sets `ready` in the marker once everything was published; it stays set for the epoch. While
 * nothing can be read it is left alone: readers keep what they have and see no empty cluster.
 */
async function setReady(
  session: Session,
  { epochStart, resources, blocked }: Swept,
  signal: AbortSignal,
): Promise<void> {
  const stored = await requireEpoch(session, epochStart, signal);
  const wasReady = stored.marker?.ready === true;
  if (resources.length === 0) return;
  const isReady = wasReady || resources.every(({ isVerified }) => isVerified);
  const shown = session.feed.resources.filter(({ name }) => !blocked.has(name));
  const marker = markerOf({ ...session.feed, resources: shown }, epochStart, isReady);
  await putMarker(session, marker, stored, signal);
}

/** A spec that was edited since may select or show differently, so everything is compared again. */
const isCurrent = ({ feed: { status, object } }: Session): boolean =>
  status.observedGeneration === object.metadata.generation;

interface ResolvedEpoch {
  readonly epochStart: EpochStart;
  readonly reason: NewEpochReason | undefined;
  /** False when the stream may have lost messages that the status counts as verified. */
  readonly isSure: boolean;
  /** The feed with the status just written. */
  readonly feed: Feed;
}

async function resolveEpoch(
  { deps, session, signal }: FeedTask,
  feed: Feed,
  probes: ReadonlyMap<ShownResource, ListProbe>,
): Promise<ResolvedEpoch> {
  const { stream } = session;
  session.forgetMarker();
  const { lastSequence } = await stream.state(signal);
  const stored = await session.marker(signal);
  const rollback = await detectRollback(session, feed, signal);
  const { isSure } = rollback;
  const reason =
    reasonForNewEpoch(feed.status, stored.marker, lastSequence) ??
    rollback.reason ??
    (wentBack(feed, probes) ? 'RevisionsWentBack' : undefined);
  const { epoch = 0, streamId = '' } = feed.status;
  if (reason === undefined) return { epochStart: { epoch, streamId }, reason, isSure, feed };
  const epochStart = startEpoch(reason, feed.status, stored.marker);
  // The status comes first: a crash between the two writes leaves an epoch that nobody saw.
  const startedFeed = await writeEpochStart(deps, feed, epochStart, reason, signal);
  session.feed = startedFeed;
  await putMarker(session, markerOf(feed, epochStart, false), stored, signal);
  return { epochStart, reason, isSure, feed: startedFeed };
}

function wentBack({ status }: Feed, probes: ReadonlyMap<ShownResource, ListProbe>): boolean {
  return [...probes].some(([{ name }, probe]) => {
    const verified = status.resources?.find((row) => row.name === name);
    return (
      verified !== undefined && compareVersions(verified.resourceVersion, probe.resourceVersion) > 0
    );
  });
}

/** The version up to which every message was confirmed, by history or one by one. */
async function verifyRest(
  task: EpochTask,
  isSameEpoch: boolean,
  replayed: ReadonlyMap<ShownResource, Replayed>,
  outcomes: OutcomeCounts,
): Promise<number> {
  const { session, signal } = task;
  const { lastSequence: upTo } = await session.stream.state(signal);
  const after = isSameEpoch ? (session.feed.status.version ?? 0) : 0;
  const byName = new Map(
    [...replayed].map(([resource, one]) => [resource.name, { resource, one }]),
  );
  const isConfirmed = (subject: string, sequence: number): boolean => {
    const resource = parseSubject(subject)?.key.resource ?? '';
    return byName.get(resource)?.one.confirmed.get(subject) === sequence;
  };
  const unverified = [
    ...(await unverifiedIn(session, { after, upTo }, isConfirmed, signal)),
    ...[...replayed.values()].flatMap((one) => one.unverified),
  ];
  await forEachLimited(unverified, signal, async (object) => {
    // A resource that the feed no longer shows is pruned later. One that cannot be read now waits
    // until it can.
    const found = byName.get(object.key.resource);
    if (found === undefined) return;
    const done = await verifyLive({ ...task, before: upTo }, found.resource, object);
    for (const outcome of done) outcomes[outcome] += 1;
  });
  return upTo;
}

/** A resource that was not brought up to date keeps the time at which it last was. */
function statusOf(
  { feed: { status } }: Session,
  { name }: ShownResource,
  { resourceVersion, isVerified, isListed }: Replayed,
  { objects, nowMs, ...counted }: Partial<Counted> & { readonly objects: number; nowMs: number },
): SweptResource {
  const before = status.resources?.find((row) => row.name === name)?.verifiedAt;
  const isNonEmpty = (count: number | readonly string[]): boolean =>
    typeof count === 'number' ? count !== 0 : count.length > 0;
  const nonEmpty = Object.entries(counted).filter(([, count]) => isNonEmpty(count));
  return {
    name,
    resourceVersion,
    verifiedAt: isVerified || before === undefined ? timestamp(nowMs) : before,
    objects,
    ...Object.fromEntries(nonEmpty),
    isVerified,
    isListed,
  };
}
