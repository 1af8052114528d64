// Brings one resource up to the present: by what happened since it was last verified, in the API
// server's own order, deletes included; or, when the API server no longer knows, by its list.
import { parseSubject } from '../../shared/feed/subjects.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeList, KubeObject } from '../../shared/kube/objects.ts';
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
  /** Every change up to it is in the stream. */
  readonly resourceVersion: string;
  /** It reached what the API server had when the sweep began. */
  readonly isVerified: boolean;
  /**
   * What stands and is as the API server said: sequences, by subject. A subject on which something
   * ought to stand, and on which somebody claims to know better, has none.
   */
  readonly confirmed: ReadonlyMap<string, number>;
  /** Objects about which somebody claims to know something later. */
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
 * The API server sends the bookmark that closes a bounded watch some two seconds before its end:
 * a shorter watch may get none.
 */
const WATCH_SECONDS = 4;
/** Changes held at once, and how much there may be to show of them. */
const HISTORY_MAX = 1_000;
const HISTORY_BYTES_MAX = 1024 * 1024;
/** Of what is larger only the name is read; it is asked about by itself. */
const CHANGE_BYTES_MAX = 4 * 1024 * 1024;
/** No sequence is as low. */
const UNCONFIRMED = 0;
/** Objects per page, as far as they are not large. */
const PAGE_SIZE = 500;

export async function replay(task: ReplayTask, from: string | undefined): Promise<Replayed> {
  if (from === undefined) return relist(task);
  if (compareVersions(from, task.probe.resourceVersion) >= 0) {
    return replayed(nothingFound(), { resourceVersion: from, isVerified: true });
  }
  try {
    return await rewatch(task, from);
  } catch (error) {
    if (isKubeError(error, 'KUBE_EXPIRED')) return relist(task);
    throw error;
  }
}

/** A part of the history after the other: there may be more of it than fits into memory. */
async function rewatch(task: ReplayTask, from: string): Promise<Replayed> {
  const found = nothingFound();
  for (let part = await readHistory(task, from); ; part = await readHistory(task, part.seen)) {
    for (const round of roundsOf(part.looks)) await take(task, round, found);
    for (const doubt of part.unverified) found.unverified.set(nameOf(doubt.key), doubt);
    if (part.isFull && !part.isPresent) continue;
    return replayed(found, { resourceVersion: part.seen, isVerified: part.isPresent });
  }
}

interface History {
  readonly looks: readonly Projection[];
  /** What is too large to be read with others. */
  readonly unverified: readonly Unverified[];
  /** Up to where it reaches. */
  readonly seen: string;
  readonly isFull: boolean;
  /** It reaches what the API server had when the sweep began. */
  readonly isPresent: boolean;
}

async function readHistory(task: ReplayTask, from: string): Promise<History> {
  const { deps, session, resource, probe, epoch, signal } = task;
  const looks: Projection[] = [];
  const unverified: Unverified[] = [];
  let [seen, bytes] = [from, 0];
  const isPresent = (): boolean => compareVersions(seen, probe.resourceVersion) >= 0;
  const isFull = (): boolean =>
    looks.length + unverified.length >= HISTORY_MAX || bytes >= HISTORY_BYTES_MAX;
  const options = {
    from: { resourceVersion: from },
    timeoutSeconds: WATCH_SECONDS,
    skimAboveBytes: CHANGE_BYTES_MAX,
    signal,
  };
  for await (const event of deps.kube.watch(resource.ref, options)) {
    if (event.type === 'RESTART') continue;
    if (event.type === 'BOOKMARK') seen = event.resourceVersion;
    else {
      const { object, type, isSkimmed = false } = event;
      seen = object.metadata.resourceVersion;
      const isGone = type === 'DELETED';
      // The object itself goes at once: ten thousand labels are shown of few kinds.
      const look = { resource, object, isGone, resourceVersion: seen, isTooLarge: isSkimmed };
      const projection = project(session.feed, look, epoch);
      const { key, subjects } = projection.plan;
      if (isSkimmed && !isGone) unverified.push({ key, subjects: new Set(subjects) });
      else looks.push(projection);
      bytes += weightOf(projection);
    }
    if (isPresent() || isFull()) break;
  }
  return { looks, unverified, seen, isFull: isFull(), isPresent: isPresent() };
}

const weightOf = ({ plan }: Projection): number =>
  plan.shown.reduce((sum, { message }) => sum + JSON.stringify(message).length, 0);

/**
 * Looks that may be taken side by side. An object that was deleted and made again under its name
 * may have stood on another node: its deaths come first, its last state after them.
 */
function roundsOf(looks: readonly Projection[]): readonly (readonly Projection[])[] {
  const last = new Map<string, Projection>();
  for (const look of looks) last.set(nameOf(look.plan.key), look);
  const isLast = (look: Projection): boolean => last.get(nameOf(look.plan.key)) === look;
  const deaths = looks.filter((look) => look.isGone && !isLast(look));
  return [...deaths.map((look) => [look]), [...last.values()]];
}

async function relist(task: ReplayTask): Promise<Replayed> {
  const { session, signal } = task;
  const found = nothingFound();
  let resourceVersion = '';
  const { ref } = task.resource;
  const pages = task.deps.kube.pages(ref, { limit: PAGE_SIZE, onTooLarge: 'skim', signal });
  const takePage = async (): Promise<boolean> => {
    const { value: page } = await pages.next();
    if (page === undefined) return false;
    // All pages of a list show the state as of the first one.
    resourceVersion ||= page.metadata.resourceVersion;
    await take(task, plansOf(task, page), found);
    return true;
  };
  try {
    while (await session.listing.take(takePage, signal));
  } finally {
    await pages.return();
  }
  await endUnlisted(task, resourceVersion, found);
  return replayed(found, { resourceVersion, isVerified: true, isListed: true });
}

/** Nothing else of the page is kept. */
function plansOf(
  { session, resource, epoch }: ReplayTask,
  { items, tooLarge = [] }: KubeList,
): readonly Projection[] {
  const plan = (object: KubeObject, isTooLarge: boolean): Projection => {
    const { resourceVersion } = object.metadata;
    const look = { resource, object, isGone: false, isTooLarge, resourceVersion };
    return project(session.feed, look, epoch);
  };
  return [
    ...items.map((object) => plan(object, false)),
    ...tooLarge.map((object) => plan(object, true)),
  ];
}

function replayed(
  { unverified, ...found }: Found,
  {
    isListed = false,
    ...how
  }: Pick<Replayed, 'resourceVersion' | 'isVerified'> & {
    readonly isListed?: boolean;
  },
): Replayed {
  return { ...found, unverified: [...unverified.values()], ...how, isListed };
}

/** What the stream still shows and the list no longer has. */
async function endUnlisted(
  { session, resource, epoch, nowMs, signal }: ReplayTask,
  resourceVersion: string,
  { outcomes, confirmed, unverified }: Found,
): Promise<void> {
  const { prefix } = session.feed;
  for await (const stored of session.stream.read(resourceFilter(prefix, resource.name), signal)) {
    const entry = publishedFrom(prefix, stored);
    if (!holdsObject(entry) || confirmed.has(entry.subject)) continue;
    const options = { epoch, nowMs, resourceVersion, isAuthoritative: false };
    const { outcome } = await writeTombstone(session, entry, options, signal);
    outcomes[outcome] += 1;
    // It claims to be of after the list: that is asked about afterwards.
    const key = parseSubject(entry.subject)?.key;
    if (outcome !== 'overtaken' || key === undefined) continue;
    const doubt = unverified.get(nameOf(key)) ?? { key, subjects: new Set<string>() };
    doubt.subjects.add(entry.subject);
    unverified.set(nameOf(key), doubt);
  }
}

interface Found {
  readonly outcomes: OutcomeCounts;
  readonly oversized: string[];
  readonly confirmed: Map<string, number>;
  /** By the object's name; what one part of the history unverified, a later one may settle. */
  readonly unverified: Map<string, Unverified>;
}

const nothingFound = (): Found => ({
  outcomes: noOutcomes(),
  oversized: [],
  confirmed: new Map(),
  unverified: new Map(),
});

async function take(
  { session, epoch, nowMs, signal }: ReplayTask,
  looks: readonly Projection[],
  { outcomes, oversized, confirmed, unverified }: Found,
): Promise<void> {
  const options: ReconcileOptions = { epoch, nowMs, trust: 'history' };
  const taken = await reconcileMany(session, looks, options, signal);
  for (const { outcome, plan, confirmed: stands } of taken) {
    const { key, shown, subjects } = plan;
    outcomes[outcome] += 1;
    if (outcome === 'oversize') oversized.push(nameOf(key));
    for (const { subject } of shown) confirmed.set(subject, UNCONFIRMED);
    for (const [subject, sequence] of stands) confirmed.set(subject, sequence);
    // Somebody's word stands against the history: it is asked about afterwards.
    if (outcome === 'overtaken') unverified.set(nameOf(key), { key, subjects: new Set(subjects) });
    else unverified.delete(nameOf(key));
  }
}

const nameOf = ({ namespace = '', name }: { readonly namespace?: string; readonly name: string }) =>
  `${namespace}/${name}`;
