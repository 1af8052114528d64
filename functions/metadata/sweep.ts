// The sweep: makes the stream equal to the API server, whatever events were lost, doubled, forged
// or late, and says as of which version that is so. It costs the API server what changed since the
// last one; it lists only what it never saw, or when the API server has forgotten.
import type { ResourceStatus } from '../../shared/api/metadata-feed.ts';
import { type Audit, audit, publishedSince } from './audit.ts';
import { floorTimeMs, writeCheckpoints, writeFloor } from './checkpoints.ts';
import { type ConfirmTask, confirm } from './confirm.ts';
import { compareVersions } from './decide.ts';
import type { Doors } from './doors.ts';
import { type Beginning, type Reason, begin, markerOf, putMarker, reasonToBegin } from './epoch.ts';
import type { ShownResource } from './feed.ts';
import { fillGaps, retire } from './gaps.ts';
import { type Blocked, type Head, isBlocked, readHead } from './heads.ts';
import { inTurns } from './in-turns.ts';
import { type Tally, addTally, noTally } from './look.ts';
import { type Replayed, replay } from './replay.ts';
import type { Session } from './session.ts';
import { writeBeginning, writeSwept } from './status.ts';

export interface SweptResource extends ResourceStatus {
  readonly isVerified: boolean;
  readonly isListed: boolean;
}

export interface Swept {
  readonly beginning: Beginning;
  readonly reason: Reason | undefined;
  readonly version: number;
  readonly resources: readonly SweptResource[];
  readonly blocked: ReadonlyMap<string, Blocked>;
  readonly outcomes: Readonly<Tally>;
  readonly audit: Audit;
}

export interface SweepTask {
  readonly doors: Doors;
  readonly session: Session;
  readonly signal: AbortSignal;
}

export async function sweep(task: SweepTask): Promise<Swept> {
  const { doors, session, signal } = task;
  const { resources } = session.feed;
  const heads = new Map<ShownResource, Head>();
  const blocked = new Map<string, Blocked>();
  await inTurns(resources, signal, async (resource) => {
    const head = await readHead(doors, resource, signal);
    if (isBlocked(head)) blocked.set(resource.name, head);
    else heads.set(resource, head);
  });
  const { beginning, reason } = await settleEpoch(task, heads);
  const moment = { epoch: beginning.epoch, nowMs: doors.clock.nowMs() };
  const replayed = new Map<ShownResource, Replayed>();
  const outcomes = noTally();
  const known = reason === undefined && isCurrent(session) ? session.feed.status.resources : [];
  await inTurns(heads, signal, async ([resource, head]) => {
    const from = known?.find(({ name }) => name === resource.name)?.resourceVersion;
    const one = await replay({ ...moment, doors, session, resource, head, signal }, from);
    replayed.set(resource, one);
    // What is published for the first time was never wrong.
    if (from === undefined) session.counts.published += one.outcomes.published;
    else addTally(outcomes, one.outcomes);
  });
  await confirmRest({ ...moment, doors, session, signal }, replayed, outcomes);
  const sums = await audit(session, floorTimeMs(session, moment.nowMs), signal);
  const rest = { ...moment, doors, session, signal };
  await fillGaps(rest, heads, sums, outcomes);
  await retire(rest, sums, outcomes);
  await writeCheckpoints(session, sums, beginning.epoch, signal);
  await writeFloor(session, sums.sequenceBefore, signal);
  const swept: Swept = {
    beginning,
    reason,
    version: sums.lastSequence,
    resources: [...replayed].map(([resource, one]) => statusOf(resource, one, sums, moment.nowMs)),
    blocked,
    outcomes,
    audit: sums,
  };
  await open(session, swept, signal);
  await writeSwept(doors, session, swept, signal);
  return swept;
}

/** Open for business, once everything was published; and so it stays for this epoch. */
async function open(
  session: Session,
  { beginning, resources }: Swept,
  signal: AbortSignal,
): Promise<void> {
  const stored = await session.marker(signal);
  const wasReady = stored.marker?.ready === true && stored.marker.epoch === beginning.epoch;
  const isReady = wasReady || resources.every(({ isVerified }) => isVerified);
  await putMarker(session, markerOf(session.feed, beginning, isReady), stored, signal);
}

/** A spec that was edited since may select or show differently: everything is compared anew. */
const isCurrent = ({ feed: { status, object } }: Session): boolean =>
  status.observedGeneration === object.metadata.generation;

async function settleEpoch(
  { doors, session, signal }: SweepTask,
  heads: ReadonlyMap<ShownResource, Head>,
): Promise<{ readonly beginning: Beginning; readonly reason: Reason | undefined }> {
  const { feed, stream } = session;
  session.forgetMarker();
  const { lastSequence } = await stream.state(signal);
  const stored = await session.marker(signal);
  const reason =
    reasonToBegin(feed.status, stored.marker, lastSequence) ??
    (wentBack(session, heads) ? 'RevisionsWentBack' : undefined);
  const { epoch = 0, streamId = '' } = feed.status;
  if (reason === undefined) return { beginning: { epoch, streamId }, reason };
  const beginning = begin(reason, feed.status, stored.marker);
  // The status first: a crash between the two is an epoch that nobody saw.
  await writeBeginning(doors, session, beginning, reason, signal);
  await putMarker(session, markerOf(feed, beginning, false), stored, signal);
  return { beginning, reason };
}

function wentBack({ feed }: Session, heads: ReadonlyMap<ShownResource, Head>): boolean {
  return [...heads].some(([{ name }, head]) => {
    const verified = feed.status.resources?.find((row) => row.name === name);
    return (
      verified !== undefined && compareVersions(verified.resourceVersion, head.resourceVersion) > 0
    );
  });
}

async function confirmRest(
  task: ConfirmTask,
  replayed: ReadonlyMap<ShownResource, Replayed>,
  outcomes: Tally,
): Promise<void> {
  const { session, signal } = task;
  const since = session.feed.status.version ?? 0;
  const suspects = await publishedSince(session, since, signal);
  await inTurns(suspects.values(), signal, async (suspect) => {
    const { key } = suspect;
    const entry = [...replayed].find(([{ name }]) => name === key.resource);
    // Of a resource that the feed no longer shows nothing may stay.
    if (entry === undefined) return;
    const [resource, { settled }] = entry;
    if (settled.has(`${key.namespace}/${key.name}`)) return;
    for (const outcome of await confirm(task, resource, suspect)) outcomes[outcome] += 1;
  });
}

function statusOf(
  { name }: ShownResource,
  { resourceVersion, isVerified, isListed }: Replayed,
  { objects }: Audit,
  nowMs: number,
): SweptResource {
  const verifiedAt = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    name,
    resourceVersion,
    verifiedAt,
    objects: objects.get(name) ?? 0,
    isVerified,
    isListed,
  };
}
