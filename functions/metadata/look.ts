// One look at one object, or at many: read what stands, decide, act; again when somebody else was
// faster. The same road for events and for the sweep.
import type { ObjectKey } from '../../shared/feed/subjects.ts';
import { PageSize } from '../../shared/kube/page-size.ts';
import { type Decision, type Published, decide } from './decide.ts';
import { requireEpoch } from './epoch.ts';
import { inTurns } from './in-turns.ts';
import { readOne, readPublished, readPublishedWithin, recentlyPublished } from './observe.ts';
import type { Session } from './session.ts';
import { type LookPlan, type Moment, type Planned, sightOf } from './sight.ts';
import { isConflict, takeSteps } from './steps.ts';

export interface LookOptions extends Moment {
  /**
   * `hint`: from an event, which may come late. `history`: from the API server's own order of
   * events. `truth`: read from the API server after what stands was read.
   */
  readonly trust: 'hint' | 'history' | 'truth';
}

const OUTCOMES = ['published', 'unchanged', 'overtaken', 'unfounded', 'oversize'] as const;
export type Outcome = (typeof OUTCOMES)[number];
/** How many looks ended how. */
export type Tally = Record<Outcome, number>;

export const noTally = (): Tally => ({
  published: 0,
  unchanged: 0,
  overtaken: 0,
  unfounded: 0,
  oversize: 0,
});

export function addTally(to: Tally, more: Readonly<Tally>): void {
  for (const outcome of OUTCOMES) to[outcome] += more[outcome];
}

/** Three events of one object at once are common (created, bound, started), more are not. */
const LOOKS_MAX = 4;
/** Looks whose subjects are read with one request. */
const LOOKS_AT_ONCE_MAX = 500;

/** What came of a look. */
export interface Looked {
  readonly outcome: Outcome;
  /** What stands about the object now and is as it was seen: sequences, by subject. */
  readonly settled: ReadonlyMap<string, number>;
}

/** What a look would have to see to be sure. */
export interface Doubt {
  readonly key: ObjectKey;
  readonly subjects: Set<string>;
}

const OVERTAKEN: Looked = { outcome: 'overtaken', settled: new Map() };
const OVERSIZE: Looked = { outcome: 'oversize', settled: new Map() };

export async function lookAt(
  session: Session,
  planned: Planned,
  options: LookOptions,
  signal: AbortSignal,
): Promise<Looked> {
  const { plan } = planned;
  if (plan.isTooLong) return OVERSIZE;
  let known = recentlyPublished(session, plan);
  for (let left = LOOKS_MAX; ; left -= 1) {
    const published = known ?? (await readOne(session, plan, signal));
    const decision = await judgeSafely(session, { planned, published }, options, signal);
    // What is only remembered is reason enough to try, but not to do nothing.
    const isSure = known === undefined || decision.steps.length > 0;
    known = undefined;
    if (!isSure) continue;
    try {
      return told(planned, await act(session, decision, published, signal));
    } catch (error) {
      if (left <= 1 || !isConflict(error)) throw error;
    }
  }
}

/**
 * What comes of a look when there is nothing to be done; undefined when there is. What stands is
 * remembered for whoever does it.
 */
export async function lookOnly(
  session: Session,
  planned: Planned,
  options: LookOptions,
  signal: AbortSignal,
): Promise<Looked | undefined> {
  const { plan } = planned;
  if (plan.isTooLong) return OVERSIZE;
  const decideOn = (published: readonly Published[]): Decision =>
    judge(session, { planned, published }, options);
  const known = recentlyPublished(session, plan);
  if (known !== undefined && decideOn(known).steps.length > 0) return undefined;
  const published = await readOne(session, plan, signal);
  await checkEpoch(session, published, options.epoch, signal);
  const decision = decideOn(published);
  if (decision.steps.length > 0) return undefined;
  return told(planned, await act(session, decision, published, signal));
}

export type LookedPlan = Looked & { readonly plan: LookPlan };

/**
 * Many looks with few reads, and no more of what stands in memory at once than a page of a list
 * may weigh. Answers what came of each, with its plan, in their order.
 */
export async function lookAtAll(
  session: Session,
  planned: readonly Planned[],
  options: LookOptions,
  signal: AbortSignal,
): Promise<readonly LookedPlan[]> {
  const looked: LookedPlan[] = [];
  const size = new PageSize(LOOKS_AT_ONCE_MAX, LOOKS_AT_ONCE_MAX);
  while (looked.length < planned.length) {
    const part = planned.slice(looked.length, looked.length + size.limit);
    const came = await session.looking.take(async () => {
      const plans = part.map(({ plan }) => plan);
      const published = await readPublishedWithin(session, plans, size, signal);
      return published && lookAtPart(session, part, published, options, signal);
    }, signal);
    if (came === undefined) size.shrink();
    else looked.push(...came);
  }
  return looked;
}

async function lookAtPart(
  session: Session,
  part: readonly Planned[],
  published: readonly (readonly Published[])[],
  options: LookOptions,
  signal: AbortSignal,
): Promise<readonly LookedPlan[]> {
  await checkEpoch(session, published.flat(), options.epoch, signal);
  // Once for all of them.
  if (published.some((one) => one.length === 0)) await requireEpoch(session, options, signal);
  const looked: LookedPlan[] = [];
  await inTurns(part.entries(), signal, async ([index, planned]) => {
    const { plan } = planned;
    if (plan.isTooLong) {
      looked[index] = { ...OVERSIZE, plan };
      return;
    }
    const there = published[index] ?? [];
    const decision = judge(session, { planned, published: there }, options);
    const came = await act(session, decision, there, signal).catch((error: unknown) => {
      if (isConflict(error)) return lookAt(session, planned, options, signal);
      throw error;
    });
    looked[index] = { ...told(planned, came), plan };
  });
  return looked;
}

/**
 * Looks at what the API server was just asked about. What was published since `before` came later
 * than the answer and is left to the next sweep.
 */
export async function lookAtTruth(
  session: Session,
  planned: Planned,
  options: Moment & { readonly before: number },
  signal: AbortSignal,
): Promise<Looked> {
  const [published = []] = await readPublished(session, [planned.plan], signal);
  if (published.some(({ sequence }) => sequence > options.before)) return OVERTAKEN;
  const truth = { ...options, trust: 'truth' } as const;
  const decision = await judgeSafely(session, { planned, published }, truth, signal);
  const came = await act(session, decision, published, signal).catch(overtakenOnConflict);
  return told(planned, came);
}

/** Whatever stood about it is gone now; what is to be known is that it is there, and too large. */
const told = ({ isTooLarge, isGone }: Planned, looked: Looked): Looked =>
  isTooLarge && !isGone && looked.outcome !== 'overtaken'
    ? { ...looked, outcome: 'oversize' }
    : looked;

/** Ends what stands on one subject and should not. */
export async function buryAt(
  session: Session,
  entry: Published,
  options: Moment & { readonly resourceVersion: string; readonly isTruth: boolean },
  signal: AbortSignal,
): Promise<Looked> {
  const { nowMs, ...sight } = options;
  const at = new Date(nowMs).toISOString();
  const uid = entry.message?.uid ?? '';
  await checkEpoch(session, [entry], options.epoch, signal);
  const decision = decide({ ...sight, shown: [], head: undefined, closed: [], uid, at }, [entry]);
  return act(session, decision, [entry], signal).catch(overtakenOnConflict);
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

interface Sighting {
  readonly planned: Planned;
  readonly published: readonly Published[];
}

/**
 * Where nothing stands about an object nothing tells of a later epoch, and no sequence keeps a
 * message of ours out of the stream that came after: before it is written the marker is read.
 */
async function judgeSafely(
  session: Session,
  sighting: Sighting,
  options: LookOptions,
  signal: AbortSignal,
): Promise<Decision> {
  const { published } = sighting;
  await checkEpoch(session, published, options.epoch, signal);
  const decision = judge(session, sighting, options);
  const isNew = published.length === 0 && decision.steps.length > 0;
  if (isNew) await requireEpoch(session, options, signal);
  return decision;
}

function overtakenOnConflict(error: unknown): Looked {
  if (isConflict(error)) return OVERTAKEN;
  throw error;
}

function judge(
  session: Session,
  { planned, published }: Sighting,
  { trust, ...moment }: LookOptions,
): Decision {
  const sight = sightOf(session.feed, planned, moment);
  return decide({ ...sight, isTruth: trust === 'truth' }, published);
}

async function act(
  session: Session,
  { outcome, steps, disputed }: Decision,
  published: readonly Published[],
  signal: AbortSignal,
): Promise<Looked> {
  if (outcome === 'overtaken') return OVERTAKEN;
  const settled = new Map(published.map(({ subject, sequence }) => [subject, sequence]));
  for (const subject of disputed) settled.delete(subject);
  if (steps.length > 0) {
    const taken = await takeSteps(session, steps, published, signal);
    if (taken === 'oversize') return OVERSIZE;
    for (const [subject, sequence] of taken) settled.set(subject, sequence);
  }
  return { outcome: outcome === 'changed' ? 'published' : outcome, settled };
}
