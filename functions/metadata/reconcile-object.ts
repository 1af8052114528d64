// One look at one object, or at many: read what stands, decide, act; again when somebody else was
// faster. The same road for events and for the sweep.
import type { ObjectKey } from '../../shared/feed/subjects.ts';
import { PageSize } from '../../shared/kube/page-size.ts';
import { decide, type Decision, type Published } from './decide.ts';
import { requireEpoch } from './epoch.ts';
import { forEachLimited } from './for-each-limited.ts';
import { desiredState, type Moment, type Placement, type Projection } from './observation.ts';
import { cachedPublished, readOne, readPublished, readPublishedWithin } from './observe.ts';
import type { Session } from './session.ts';
import { applySteps, isConflict } from './steps.ts';

export interface ReconcileOptions extends Moment {
  /**
   * `hint`: from an event, which may come late. `history`: from the API server's own order of
   * events. `truth`: read from the API server after what stands was read.
   */
  readonly trust: 'hint' | 'history' | 'truth';
}

const OUTCOMES = ['published', 'unchanged', 'overtaken', 'unfounded', 'oversize'] as const;
export type Outcome = (typeof OUTCOMES)[number];
/** How many looks ended how. */
export type OutcomeCounts = Record<Outcome, number>;

export const noOutcomes = (): OutcomeCounts => ({
  published: 0,
  unchanged: 0,
  overtaken: 0,
  unfounded: 0,
  oversize: 0,
});

export function addOutcomes(to: OutcomeCounts, more: Readonly<OutcomeCounts>): void {
  for (const outcome of OUTCOMES) to[outcome] += more[outcome];
}

/** Three events of one object at once are common (created, bound, started), more are not. */
const ATTEMPTS_MAX = 4;
/** Looks whose subjects are read with one request. */
const OBJECTS_PER_READ_MAX = 500;

/** What came of a look. */
export interface ReconcileResult {
  readonly outcome: Outcome;
  /** What stands about the object now and is as it was seen: sequences, by subject. */
  readonly confirmed: ReadonlyMap<string, number>;
}

/** What a look would have to see to be sure. */
export interface Unverified {
  readonly key: ObjectKey;
  readonly subjects: Set<string>;
}

const OVERTAKEN: ReconcileResult = { outcome: 'overtaken', confirmed: new Map() };
const OVERSIZE: ReconcileResult = { outcome: 'oversize', confirmed: new Map() };

export async function reconcileObject(
  session: Session,
  projection: Projection,
  options: ReconcileOptions,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { plan } = projection;
  if (plan.isTooLong) return OVERSIZE;
  let known = cachedPublished(session, plan);
  for (let left = ATTEMPTS_MAX; ; left -= 1) {
    const published = known ?? (await readOne(session, plan, signal));
    const decision = await decideInEpoch(session, { projection, published }, options, signal);
    // What is only remembered is reason enough to try, but not to do nothing.
    const isSure = known === undefined || decision.steps.length > 0;
    known = undefined;
    if (!isSure) continue;
    try {
      return orOversize(projection, await applyDecision(session, decision, published, signal));
    } catch (error) {
      if (left <= 1 || !isConflict(error)) throw error;
    }
  }
}

/**
 * What comes of a look when there is nothing to be done; undefined when there is. What stands is
 * remembered for whoever does it.
 */
export async function resultIfInSync(
  session: Session,
  projection: Projection,
  options: ReconcileOptions,
  signal: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const { plan } = projection;
  if (plan.isTooLong) return OVERSIZE;
  const decideOn = (published: readonly Published[]): Decision =>
    decideFrom(session, { projection, published }, options);
  const known = cachedPublished(session, plan);
  if (known !== undefined && decideOn(known).steps.length > 0) return undefined;
  const published = await readOne(session, plan, signal);
  await checkEpoch(session, published, options.epoch, signal);
  const decision = decideOn(published);
  if (decision.steps.length > 0) return undefined;
  return orOversize(projection, await applyDecision(session, decision, published, signal));
}

export type PlacedResult = ReconcileResult & { readonly plan: Placement };

/**
 * Many looks with few reads, and no more of what stands in memory at once than a page of a list
 * may weigh. Answers what came of each, with its plan, in their order.
 */
export async function reconcileMany(
  session: Session,
  projection: readonly Projection[],
  options: ReconcileOptions,
  signal: AbortSignal,
): Promise<readonly PlacedResult[]> {
  const looked: PlacedResult[] = [];
  const size = new PageSize(OBJECTS_PER_READ_MAX, OBJECTS_PER_READ_MAX);
  while (looked.length < projection.length) {
    const part = projection.slice(looked.length, looked.length + size.limit);
    const came = await session.looking.take(async () => {
      const plans = part.map(({ plan }) => plan);
      const published = await readPublishedWithin(session, plans, size, signal);
      return published && reconcilePage(session, part, published, options, signal);
    }, signal);
    if (came === undefined) size.shrink();
    else looked.push(...came);
  }
  return looked;
}

async function reconcilePage(
  session: Session,
  part: readonly Projection[],
  published: readonly (readonly Published[])[],
  options: ReconcileOptions,
  signal: AbortSignal,
): Promise<readonly PlacedResult[]> {
  await checkEpoch(session, published.flat(), options.epoch, signal);
  // Once for all of them.
  if (published.some((one) => one.length === 0)) await requireEpoch(session, options, signal);
  const looked: PlacedResult[] = [];
  await forEachLimited(part.entries(), signal, async ([index, projection]) => {
    const { plan } = projection;
    if (plan.isTooLong) {
      looked[index] = { ...OVERSIZE, plan };
      return;
    }
    const there = published[index] ?? [];
    const decision = decideFrom(session, { projection, published: there }, options);
    const came = await applyDecision(session, decision, there, signal).catch((error: unknown) => {
      if (isConflict(error)) return reconcileObject(session, projection, options, signal);
      throw error;
    });
    looked[index] = { ...orOversize(projection, came), plan };
  });
  return looked;
}

/**
 * Looks at what the API server was just asked about. What was published since `before` came later
 * than the answer and is left to the next sweep.
 */
export async function reconcileLive(
  session: Session,
  projection: Projection,
  options: Moment & { readonly before: number },
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const [published = []] = await readPublished(session, [projection.plan], signal);
  if (published.some(({ sequence }) => sequence > options.before)) return OVERTAKEN;
  const truth = { ...options, trust: 'truth' } as const;
  const decision = await decideInEpoch(session, { projection, published }, truth, signal);
  const came = await applyDecision(session, decision, published, signal).catch(overtakenOnConflict);
  return orOversize(projection, came);
}

/** Whatever stood about it is gone now; what is to be known is that it is there, and too large. */
const orOversize = ({ isTooLarge, isGone }: Projection, looked: ReconcileResult): ReconcileResult =>
  isTooLarge && !isGone && looked.outcome !== 'overtaken'
    ? { ...looked, outcome: 'oversize' }
    : looked;

/** Ends what stands on one subject and should not. */
export async function writeTombstone(
  session: Session,
  entry: Published,
  options: Moment & { readonly resourceVersion: string; readonly isAuthoritative: boolean },
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { nowMs, ...sight } = options;
  const at = new Date(nowMs).toISOString();
  const uid = entry.message?.uid ?? '';
  await checkEpoch(session, [entry], options.epoch, signal);
  const decision = decide({ ...sight, shown: [], head: undefined, closed: [], uid, at }, [entry]);
  return applyDecision(session, decision, [entry], signal).catch(overtakenOnConflict);
}

/**
 * A message of a later epoch: either ours is over, and nothing of it may be written any more, or
 * somebody wrote what is none of the feed's.
 */
async function checkEpoch(
  session: Session,
  published: readonly Published[],
  epoch: number,
  signal: AbortSignal,
): Promise<void> {
  const isLater = published.some(({ message }) => message !== undefined && message.epoch > epoch);
  if (isLater) await requireEpoch(session, { epoch }, signal);
}

interface Comparison {
  readonly projection: Projection;
  readonly published: readonly Published[];
}

/**
 * Where nothing stands about an object nothing tells of a later epoch, and no sequence keeps a
 * message of ours out of the stream that came after: before it is written the marker is read.
 */
async function decideInEpoch(
  session: Session,
  comparison: Comparison,
  options: ReconcileOptions,
  signal: AbortSignal,
): Promise<Decision> {
  const { published } = comparison;
  await checkEpoch(session, published, options.epoch, signal);
  const decision = decideFrom(session, comparison, options);
  const isNew = published.length === 0 && decision.steps.length > 0;
  if (isNew) await requireEpoch(session, options, signal);
  return decision;
}

function overtakenOnConflict(error: unknown): ReconcileResult {
  if (isConflict(error)) return OVERTAKEN;
  throw error;
}

function decideFrom(
  session: Session,
  { projection, published }: Comparison,
  { trust, ...moment }: ReconcileOptions,
): Decision {
  const sight = desiredState(session.feed, projection, moment);
  return decide({ ...sight, isAuthoritative: trust === 'truth' }, published);
}

async function applyDecision(
  session: Session,
  { outcome, steps, disputed }: Decision,
  published: readonly Published[],
  signal: AbortSignal,
): Promise<ReconcileResult> {
  if (outcome === 'overtaken') return OVERTAKEN;
  const confirmed = new Map(published.map(({ subject, sequence }) => [subject, sequence]));
  for (const subject of disputed) confirmed.delete(subject);
  if (steps.length > 0) {
    const written = await applySteps(session, steps, published, signal);
    if (written === 'oversize') return OVERSIZE;
    for (const [subject, sequence] of written) confirmed.set(subject, sequence);
  }
  return { outcome: outcome === 'changed' ? 'published' : outcome, confirmed };
}
