// Reconciles one object, or many: reads its messages, decides, writes, and starts over when another
// instance was faster. Events and the sweep use the same code.
import type { ObjectKey } from '../../shared/feed/subjects.ts';
import { forEachLimited } from '../../shared/function/for-each-limited.ts';
import { PageSize } from '../../shared/kube/page-size.ts';
import { decide, type Decision, type Published } from './decide.ts';
import { requireEpoch } from './epoch.ts';
import { desiredState, type Moment, type Placement, type Projection } from './observation.ts';
import { cachedPublished, readOne, readPublished, readPublishedWithin } from './observe.ts';
import type { Session } from './session.ts';
import { applySteps, isConflict } from './steps.ts';

export interface ReconcileOptions extends Moment {
  /**
   * `event`: a claim, which may come late. `history`: from the API server's own order of changes.
   * `live`: read from the API server after the stream was read.
   */
  readonly source: 'event' | 'history' | 'live';
}

const OUTCOMES = ['published', 'unchanged', 'overtaken', 'unfounded', 'oversize'] as const;
export type Outcome = (typeof OUTCOMES)[number];
/** How many reconciles ended how. */
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

/** Three events of one object at once are common (created, bound, started). More are rare. */
const ATTEMPTS_MAX = 4;
/** Objects whose subjects are read with one request. */
const OBJECTS_PER_READ_MAX = 500;

/** The result of one reconcile. */
export interface ReconcileResult {
  readonly outcome: Outcome;
  /** Messages that agree with the observation: sequences, by subject. */
  readonly confirmed: ReadonlyMap<string, number>;
}

/**
 * An object with messages that nothing has confirmed yet. verify-live.ts reads it from the API
 * server.
 */
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
  const { placement } = projection;
  if (placement.isTooLong) return OVERSIZE;
  let known = cachedPublished(session, placement);
  for (let left = ATTEMPTS_MAX; ; left -= 1) {
    const published = known ?? (await readOne(session, placement, signal));
    const decision = await decideInEpoch(session, { projection, published }, options, signal);
    // A cached message is reason enough to try a write, since compare-and-set checks it. It is no
    // reason to do nothing.
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
 * The result when nothing has to be written; undefined when something has. The messages read are
 * cached for the write.
 */
export async function resultIfInSync(
  session: Session,
  projection: Projection,
  options: ReconcileOptions,
  signal: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const { placement } = projection;
  if (placement.isTooLong) return OVERSIZE;
  const decideOn = (published: readonly Published[]): Decision =>
    decideFrom(session, { projection, published }, options);
  const known = cachedPublished(session, placement);
  if (known !== undefined && decideOn(known).steps.length > 0) return undefined;
  const published = await readOne(session, placement, signal);
  await checkEpoch(session, published, options.epoch, signal);
  const decision = decideOn(published);
  if (decision.steps.length > 0) return undefined;
  return orOversize(projection, await applyDecision(session, decision, published, signal));
}

export type PlacedResult = ReconcileResult & { readonly placement: Placement };

/**
 * Reconciles many objects with few reads. The messages in memory at once weigh no more than a page
 * of a list. The results are in the order of the projections.
 */
export async function reconcileMany(
  session: Session,
  projections: readonly Projection[],
  options: ReconcileOptions,
  signal: AbortSignal,
): Promise<readonly PlacedResult[]> {
  const results: PlacedResult[] = [];
  const size = new PageSize(OBJECTS_PER_READ_MAX, OBJECTS_PER_READ_MAX);
  while (results.length < projections.length) {
    const part = projections.slice(results.length, results.length + size.limit);
    const result = await session.readSlots.take(async () => {
      const placements = part.map(({ placement }) => placement);
      const published = await readPublishedWithin(session, placements, size, signal);
      return published && reconcilePage(session, part, published, options, signal);
    }, signal);
    if (result === undefined) size.shrink();
    else results.push(...result);
  }
  return results;
}

async function reconcilePage(
  session: Session,
  part: readonly Projection[],
  published: readonly (readonly Published[])[],
  options: ReconcileOptions,
  signal: AbortSignal,
): Promise<readonly PlacedResult[]> {
  await checkEpoch(session, published.flat(), options.epoch, signal);
  // One read of the marker serves the whole page.
  if (published.some((one) => one.length === 0)) await requireEpoch(session, options, signal);
  const results: PlacedResult[] = [];
  await forEachLimited(part.entries(), signal, async ([index, projection]) => {
    const { placement } = projection;
    if (placement.isTooLong) {
      results[index] = { ...OVERSIZE, placement };
      return;
    }
    const current = published[index] ?? [];
    const decision = decideFrom(session, { projection, published: current }, options);
    const result = await applyDecision(session, decision, current, signal).catch(
      (error: unknown) => {
        if (isConflict(error)) return reconcileObject(session, projection, options, signal);
        throw error;
      },
    );
    results[index] = { ...orOversize(projection, result), placement };
  });
  return results;
}

/**
 * Reconciles with a state that was just read from the API server. A message published since
 * `before` may be newer than that read, so the next sweep verifies it.
 */
export async function reconcileLive(
  session: Session,
  projection: Projection,
  options: Moment & { readonly before: number },
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const [published = []] = await readPublished(session, [projection.placement], signal);
  if (published.some(({ sequence }) => sequence > options.before)) return OVERTAKEN;
  const live = { ...options, source: 'live' } as const;
  const decision = await decideInEpoch(session, { projection, published }, live, signal);
  const result = await applyDecision(session, decision, published, signal).catch(
    overtakenOnConflict,
  );
  return orOversize(projection, result);
}

/** Nothing of an object that is too large stays in the stream. The caller counts it as oversize. */
const orOversize = ({ isTooLarge, isGone }: Projection, result: ReconcileResult): ReconcileResult =>
  isTooLarge && !isGone && result.outcome !== 'overtaken'
    ? { ...result, outcome: 'oversize' }
    : result;

/** Ends the message on one subject. */
export async function writeTombstone(
  session: Session,
  entry: Published,
  options: Moment & { readonly resourceVersion: string; readonly isAuthoritative: boolean },
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { nowMs, ...desired } = options;
  const at = new Date(nowMs).toISOString();
  const uid = entry.message?.uid ?? '';
  await checkEpoch(session, [entry], options.epoch, signal);
  const decision = decide({ ...desired, shown: [], head: undefined, guarded: [], uid, at }, [
    entry,
  ]);
  return applyDecision(session, decision, [entry], signal).catch((error: unknown) => {
    if (!isConflict(error)) throw error;
    // A server of a cluster that was killed may hold a message that the others forgot. Nothing
    // stands on the subject then, as compare-and-set sees it.
    const steps = decision.steps.map((step) => ({ ...step, expectedSequence: 0 }));
    return applyDecision(session, { ...decision, steps }, [], signal).catch(overtakenOnConflict);
  });
}

/**
 * A message of a later epoch has two possible causes. This instance's epoch is over, and it must
 * write nothing more; or a stranger wrote the message.
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
 * With no stored message, compare-and-set cannot reveal a newer epoch: an expected sequence of 0
 * also holds in the stream that came after. So the marker is read again before the first message of
 * an object is written.
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
  { source, ...moment }: ReconcileOptions,
): Decision {
  const desired = desiredState(session.feed, projection, moment);
  return decide({ ...desired, isAuthoritative: source === 'live' }, published);
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
