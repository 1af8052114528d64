// Brings one resource up to date. The watch replays the history since the last verified version,
// deletes included. When the API server has dropped that history (410 Gone, KUBE_EXPIRED), the
// resource is listed anew.
import { parseSubject } from '../../shared/feed/subjects.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { Change } from '../../shared/kube/watch.ts';
import { compareVersions, holdsObject } from './decide.ts';
import type { EpochTask } from './deps.ts';
import type { ShownResource } from './feed.ts';
import type { ListProbe } from './list-probe.ts';
import { project, type Projection } from './observation.ts';
import { publishedFrom, resourceFilter } from './observe.ts';
import {
  noOutcomes,
  type OutcomeCounts,
  reconcileMany,
  type ReconcileOptions,
  type Unverified,
  writeTombstone,
} from './reconcile-object.ts';

export interface Replayed {
  /** Every change up to this version is in the stream. */
  readonly resourceVersion: string;
  /** The version is at least the one that the API server had when the sweep began. */
  readonly isVerified: boolean;
  /**
   * Messages that agree with the API server: sequences, by subject. A subject that should hold a
   * message, but holds one that claims to be newer, has the sequence 0.
   */
  readonly confirmed: ReadonlyMap<string, number>;
  /** Objects with a message that claims to be newer. */
  readonly unverified: readonly Unverified[];
  readonly outcomes: Readonly<OutcomeCounts>;
  /** Names of objects that were left out because they are too large. */
  readonly oversized: readonly string[];
  readonly isListed: boolean;
}

export interface ReplayTask extends EpochTask {
  readonly resource: ShownResource;
  readonly probe: ListProbe;
}

/**
 * The API server sends the bookmark that closes a bounded watch about two seconds before its end. A
 * shorter watch may get none.
 */
const WATCH_SECONDS = 4;
/** Limits of the changes in memory: their number, and the size of the messages to show. */
const HISTORY_MAX = 1_000;
const HISTORY_BYTES_MAX = 1024 * 1024;
/** A larger object is read by itself, and only its metadata. */
const CHANGE_BYTES_MAX = 4 * 1024 * 1024;
/** Lower than any sequence. */
const UNCONFIRMED = 0;
/** Objects per page, unless they are large. */
const PAGE_SIZE = 500;

export async function replay(task: ReplayTask, from: string | undefined): Promise<Replayed> {
  if (from === undefined) return relist(task);
  if (compareVersions(from, task.probe.resourceVersion) >= 0) {
    return replayed(noProgress(), { resourceVersion: from, isVerified: true });
  }
  try {
    return await rewatch(task, from);
  } catch (error) {
    if (isKubeError(error, 'KUBE_EXPIRED')) return relist(task);
    throw error;
  }
}

/** Replays the history in parts: all of it may not fit into memory. */
async function rewatch(task: ReplayTask, from: string): Promise<Replayed> {
  const progress = noProgress();
  for (let part = await readHistory(task, from); ; part = await readHistory(task, part.seen)) {
    for (const round of roundsOf(part.projections)) await reconcileRound(task, round, progress);
    for (const unverifiedObject of part.unverified)
      progress.unverified.set(nameOf(unverifiedObject.key), unverifiedObject);
    if (part.isFull && !part.isPresent) continue;
    return replayed(progress, { resourceVersion: part.seen, isVerified: part.isPresent });
  }
}

interface History {
  readonly projections: readonly Projection[];
  /** Objects that are too large to be read with others. */
  readonly unverified: readonly Unverified[];
  /** The version up to which the part reaches. */
  readonly seen: string;
  readonly isFull: boolean;
  /** The version is at least the one that the API server had when the sweep began. */
  readonly isPresent: boolean;
}

async function readHistory(task: ReplayTask, from: string): Promise<History> {
  const { deps, session, resource, probe, epoch, signal } = task;
  const projections: Projection[] = [];
  const unverified: Unverified[] = [];
  let [seen, bytes] = [from, 0];
  const isPresent = (): boolean => compareVersions(seen, probe.resourceVersion) >= 0;
  const isFull = (): boolean =>
    projections.length + unverified.length >= HISTORY_MAX || bytes >= HISTORY_BYTES_MAX;
  // Only the projection is kept: of an object with ten thousand labels few are shown.
  const take = ({ object, type, isSkimmed }: Change): void => {
    seen = object.metadata.resourceVersion;
    const isGone = type === 'DELETED';
    const how = { isGone, resourceVersion: seen, isTooLarge: isSkimmed === true };
    const projection = project(session.feed, { resource, object, ...how }, epoch);
    const { key, subjects } = projection.placement;
    if (isSkimmed === true && !isGone) unverified.push({ key, subjects: new Set(subjects) });
    else projections.push(projection);
    bytes += weightOf(projection);
  };
  const options = {
    from: { resourceVersion: from },
    timeoutSeconds: WATCH_SECONDS,
    skimAboveBytes: CHANGE_BYTES_MAX,
    take,
    signal,
  };
  for await (const event of deps.kube.watch(resource.ref, options)) {
    if (event.type === 'RESTART') continue;
    if (event.type === 'BOOKMARK') seen = event.resourceVersion;
    if (isPresent() || isFull()) break;
  }
  return { projections, unverified, seen, isFull: isFull(), isPresent: isPresent() };
}

const weightOf = ({ placement }: Projection): number =>
  placement.shown.reduce((sum, { message }) => sum + JSON.stringify(message).length, 0);

/**
 * Rounds of projections that may be reconciled side by side. An object that was deleted and created
 * again under its name may have stood on another node: its deletions come first, its last state
 * after them.
 */
function roundsOf(projections: readonly Projection[]): readonly (readonly Projection[])[] {
  const last = new Map<string, Projection>();
  for (const one of projections) last.set(nameOf(one.placement.key), one);
  const isLast = (one: Projection): boolean => last.get(nameOf(one.placement.key)) === one;
  const deletions = projections.filter((one) => one.isGone && !isLast(one));
  return [...deletions.map((one) => [one]), [...last.values()]];
}

async function relist(task: ReplayTask): Promise<Replayed> {
  const { session, signal } = task;
  const progress = noProgress();
  let resourceVersion = '';
  const { ref } = task.resource;
  let projections: Projection[] = [];
  const take = (object: KubeObject): void => {
    projections.push(projectionOf(task, object, false));
  };
  const options = { limit: PAGE_SIZE, onTooLarge: 'skim', take, signal } as const;
  const pages = task.deps.kube.pages(ref, options);
  const takePage = async (): Promise<boolean> => {
    const { value: page } = await pages.next();
    if (page === undefined) return false;
    // All pages of a list show the state as of the first page.
    resourceVersion ||= page.metadata.resourceVersion;
    for (const object of page.tooLarge ?? []) {
      projections.push(projectionOf(task, object, true));
    }
    const round = projections;
    projections = [];
    await reconcileRound(task, round, progress);
    return true;
  };
  try {
    while (await session.listSlots.take(takePage, signal));
  } finally {
    await pages.return();
  }
  await endUnlisted(task, resourceVersion, progress);
  return replayed(progress, { resourceVersion, isVerified: true, isListed: true });
}

function projectionOf(
  { session, resource, epoch }: ReplayTask,
  object: KubeObject,
  isTooLarge: boolean,
): Projection {
  const { resourceVersion } = object.metadata;
  const observation = { resource, object, isGone: false, isTooLarge, resourceVersion };
  return project(session.feed, observation, epoch);
}

function replayed(
  { unverified, ...progress }: Progress,
  {
    isListed = false,
    ...how
  }: Pick<Replayed, 'resourceVersion' | 'isVerified'> & {
    readonly isListed?: boolean;
  },
): Replayed {
  return { ...progress, unverified: [...unverified.values()], ...how, isListed };
}

/** Ends messages of objects that the list no longer has. */
async function endUnlisted(
  { session, resource, epoch, nowMs, signal }: ReplayTask,
  resourceVersion: string,
  { outcomes, confirmed, unverified }: Progress,
): Promise<void> {
  const { prefix } = session.feed;
  for await (const stored of session.stream.read(resourceFilter(prefix, resource.name), signal)) {
    const entry = publishedFrom(prefix, stored);
    if (!holdsObject(entry) || confirmed.has(entry.subject)) continue;
    const options = { epoch, nowMs, resourceVersion, isAuthoritative: false };
    const { outcome } = await writeTombstone(session, entry, options, signal);
    outcomes[outcome] += 1;
    // The message claims to be newer than the list: verifyLive reads the object afterwards.
    const key = parseSubject(entry.subject)?.key;
    if (outcome !== 'overtaken' || key === undefined) continue;
    const unverifiedObject = unverified.get(nameOf(key)) ?? { key, subjects: new Set<string>() };
    unverifiedObject.subjects.add(entry.subject);
    unverified.set(nameOf(key), unverifiedObject);
  }
}

interface Progress {
  readonly outcomes: OutcomeCounts;
  readonly oversized: string[];
  readonly confirmed: Map<string, number>;
  /** By the object's name. A later part of the history may confirm what an earlier one did not. */
  readonly unverified: Map<string, Unverified>;
}

const noProgress = (): Progress => ({
  outcomes: noOutcomes(),
  oversized: [],
  confirmed: new Map(),
  unverified: new Map(),
});

async function reconcileRound(
  { session, epoch, nowMs, signal }: ReplayTask,
  projections: readonly Projection[],
  { outcomes, oversized, confirmed, unverified }: Progress,
): Promise<void> {
  const options: ReconcileOptions = { epoch, nowMs, source: 'history' };
  const results = await reconcileMany(session, projections, options, signal);
  for (const { outcome, placement, confirmed: stands } of results) {
    const { key, shown, subjects } = placement;
    outcomes[outcome] += 1;
    if (outcome === 'oversize') oversized.push(nameOf(key));
    for (const { subject } of shown) confirmed.set(subject, UNCONFIRMED);
    for (const [subject, sequence] of stands) confirmed.set(subject, sequence);
    // A message contradicts the history: verifyLive reads the object afterwards.
    if (outcome === 'overtaken') unverified.set(nameOf(key), { key, subjects: new Set(subjects) });
    else unverified.delete(nameOf(key));
  }
}

const nameOf = ({ namespace = '', name }: { readonly namespace?: string; readonly name: string }) =>
  `${namespace}/${name}`;
