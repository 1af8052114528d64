// Writes the MetadataFeed's status after a sweep: conditions and counts. `degraded` below says when
// Degraded turns True. The status is also the sweep's memory: the epoch, and the version from which
// the next sweep continues.
import {
  type EventCounts,
  METADATA_FEEDS,
  type MetadataFeedStatus,
  type ResourceStatus,
  type ScopeStatus,
} from '../../shared/api/metadata-feed.ts';
import type { Failure } from '../../shared/errors.ts';
import { Digest } from '../../shared/feed/digest.ts';
import { type ConditionInput, setConditions } from '../../shared/kube/conditions.ts';
import { writeStatus } from '../../shared/kube/status.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import type { Clash, Deps } from './deps.ts';
import type { EpochStart, NewEpochReason } from './epoch.ts';
import { type Feed, feedOf } from './feed.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import type { Blocked } from './list-probe.ts';
import type { OutcomeCounts } from './reconcile-object.ts';
import type { Session } from './session.ts';
import type { StreamSums } from './stream-scan.ts';

export interface SweptResource extends ResourceStatus {
  readonly isVerified: boolean;
  readonly isListed: boolean;
}

export interface Swept {
  readonly epochStart: EpochStart;
  readonly reason: NewEpochReason | undefined;
  readonly version: number;
  readonly floorSequence: number;
  readonly resources: readonly SweptResource[];
  readonly blocked: ReadonlyMap<string, Blocked>;
  readonly outcomes: Readonly<OutcomeCounts>;
  readonly sums: StreamSums;
  /** False when the servers of the stream did not agree on its end, so that sums are of no time. */
  readonly isOfOneTime: boolean;
}

/** The API conventions allow 32,768 characters. A person reads fewer. */
const MESSAGE_MAX = 1_000;

/** The status of an epoch that has just begun: nothing is verified in it. */
export async function writeEpochStart(
  deps: Deps,
  feed: Feed,
  { epoch, streamId }: EpochStart,
  reason: NewEpochReason,
  signal: AbortSignal,
): Promise<Feed> {
  const { events } = feed.status;
  const message = `Epoch ${epoch} begins (${reason}): everything is compared and published anew.`;
  const conditions: readonly ConditionInput[] = [
    { type: 'Ready', status: 'False', reason, message },
    { type: 'InSync', status: 'False', reason, message },
  ];
  const status = { epoch, streamId, ...(events === undefined ? {} : { events }) };
  // Two instances may begin the same epoch at once, with different markers. The resourceVersion in
  // this write lets one of them win.
  return write(deps, feed, status, conditions, signal);
}

/** Adds that a sweep failed, and keeps the rest of the status. */
export async function writeFailure(
  deps: Deps,
  { feed }: Session,
  failure: Failure,
  signal: AbortSignal,
): Promise<void> {
  const { conditions: _said, ...status } = feed.status;
  const message = `The last sweep failed (${failure.code}): ${failure.message}`;
  const conditions = [
    feedCondition('InSync', 'Unknown', 'SweepFailed', message.slice(0, MESSAGE_MAX)),
  ];
  await write(deps, feed, status, conditions, signal);
}

/** Tells why a feed is not served. */
export async function writeClash(
  deps: Deps,
  { feed, owner }: Clash,
  signal: AbortSignal,
): Promise<void> {
  const message =
    `The stream of feed ${feed.name} belongs to MetadataFeed ${owner}, which is older. ` +
    'Make this feed anew with another spec.stream.name.';
  const conditions: readonly ConditionInput[] = [
    { type: 'Ready', status: 'False', reason: 'StreamTaken', message },
  ];
  await write(deps, feed, {}, conditions, signal);
}

export async function writeSwept(
  deps: Deps,
  session: Session,
  feed: Feed,
  swept: Swept,
  signal: AbortSignal,
): Promise<Feed> {
  const { object, status: before } = feed;
  const { epoch, streamId } = swept.epochStart;
  const status: MetadataFeedStatus = {
    observedGeneration: object.metadata.generation ?? 0,
    epoch,
    streamId,
    version: swept.version,
    floorSequence: swept.floorSequence,
    sweptAt: timestamp(deps.clock.nowMs()),
    resources: swept.resources.map(({ isVerified: _verified, isListed: _listed, ...row }) => row),
    // Without them the next sweep lists everything anew: what is wrong now would look like before.
    ...(swept.isOfOneTime ? { scopes: scopesOf(swept.sums) } : {}),
    events: addUp(before.events, session, swept),
  };
  return write(deps, feed, status, conditionsOf(swept), signal);
}

async function write(
  deps: Deps,
  { object }: Feed,
  status: MetadataFeedStatus,
  conditions: readonly ConditionInput[],
  signal: AbortSignal,
): Promise<Feed> {
  const moment = {
    fieldManager: FIELD_MANAGER,
    observedGeneration: object.metadata.generation,
    nowMs: deps.clock.nowMs(),
  };
  const written = await writeStatus(deps.kube, {
    ref: METADATA_FEEDS,
    object,
    status: { ...status, conditions: setConditions(object, conditions, moment) },
    fieldManager: FIELD_MANAGER,
    // A decision about an older state of the feed is dropped; the next sweep decides anew.
    ifUnmoved: true,
    signal,
  });
  return feedOf(written.object);
}

function addUp(
  before: EventCounts | undefined,
  session: Session,
  { outcomes }: Swept,
): EventCounts {
  const counts = session.takeCounts();
  const sum = (name: keyof EventCounts, more = 0): number =>
    (before?.[name] ?? 0) + counts[name] + more;
  return {
    received: sum('received'),
    published: sum('published'),
    unchanged: sum('unchanged'),
    overtaken: sum('overtaken'),
    healed: sum('healed', outcomes.published),
    unfounded: sum('unfounded', outcomes.unfounded),
    oversize: sum('oversize', outcomes.oversize),
  };
}

/**
 * XOR of the digests of all ledgers of one kind, which a reader of the whole cluster can compute as
 * well.
 */
export function scopesOf({ ledgers }: StreamSums): readonly ScopeStatus[] {
  const names = ['all', 'cluster', 'node'] as const;
  return names.map((name) => {
    const own = [...ledgers].filter(([ledger]) => ledger.startsWith(`${name}.`));
    const digest = new Digest();
    for (const [, sum] of own) digest.merge(sum.digest);
    return { name, scopes: own.length, objects: digest.objects, digest: digest.toString() };
  });
}

function conditionsOf(swept: Swept): readonly ConditionInput[] {
  const { resources, blocked } = swept;
  const unverified = resources.filter(({ isVerified }) => !isVerified).map(({ name }) => name);
  return [ready(swept, unverified), inSync(swept, unverified), degraded(blocked, resources)];
}

function ready(
  { resources, blocked, version }: Swept,
  unverified: readonly string[],
): ConditionInput {
  if (unverified.length > 0) return feedCondition('Ready', 'False', 'Catching', late(unverified));
  const names = [...blocked.keys()].join(', ');
  // A feed that shows nothing is not ready: its readers would take the cluster for empty.
  if (resources.length === 0) {
    return feedCondition(
      'Ready',
      'False',
      'ResourceBlocked',
      `None can be read: ${names}. Degraded says why.`,
    );
  }
  const but = names === '' ? '' : `, but for ${names}`;
  return feedCondition('Ready', 'True', 'Published', `Whole at version ${version}${but}.`);
}

const feedCondition = (
  type: string,
  status: ConditionInput['status'],
  reason: string,
  message: string,
): ConditionInput => ({ type, status, reason, message });

function inSync(
  { blocked, outcomes, version, isOfOneTime }: Swept,
  unverified: readonly string[],
): ConditionInput {
  if (unverified.length > 0)
    return feedCondition('InSync', 'False', 'NotVerified', late(unverified));
  if (blocked.size > 0) {
    const names = [...blocked.keys()].join(', ');
    return feedCondition('InSync', 'False', 'ResourceBlocked', `Cannot be compared: ${names}.`);
  }
  if (!isOfOneTime) return feedCondition('InSync', 'Unknown', 'ServersDiffer', SERVERS_DIFFER);
  const healed = outcomes.published + outcomes.unfounded;
  const reason = healed > 0 ? 'Healed' : 'Verified';
  return feedCondition('InSync', 'True', reason, found(healed, outcomes.unfounded, version));
}

function degraded(blocked: Swept['blocked'], resources: Swept['resources']): ConditionInput {
  const [[name, problem] = []] = [...blocked];
  if (problem !== undefined) {
    return feedCondition('Degraded', 'True', problem.reason, `${name}: ${problem.message}`);
  }
  const omitted = resources.filter(({ oversize = 0 }) => oversize > 0);
  if (omitted.length > 0) {
    const rows = omitted.map(
      ({ name: kind, oversize = 0, oversizeNames = [] }) =>
        `${oversize} ${kind}, such as ${oversizeNames.join(', ')}`,
    );
    const message = `Too large to be read or shown, and left out: ${rows.join('; ')}.`;
    return feedCondition('Degraded', 'True', 'ObjectTooLarge', message);
  }
  const message = 'Every resource is read, every object fits.';
  return feedCondition('Degraded', 'False', 'AsExpected', message);
}

const SERVERS_DIFFER =
  'The servers of the stream did not agree in time on what it holds, so it was not compared. The ' +
  'next sweep lists all resources anew.';

const late = (names: readonly string[]): string =>
  `Not yet compared up to the present: ${names.join(', ')}. The next sweep goes on.`;

function found(healed: number, unfounded: number, version: number): string {
  if (healed === 0) return `Equal to the API server at version ${version}.`;
  const claims = unfounded === 0 ? '' : `, ${unfounded} of them claims without ground`;
  return `Equal to the API server at version ${version}, after ${healed} repairs${claims}.`;
}
