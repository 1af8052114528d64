// One look at one object, or at many: read what stands, decide, act; again when somebody else was
// faster. The same road for events and for the sweep.
import { type Decision, type Published, decide } from './decide.ts';
import { inTurns } from './in-turns.ts';
import { readOne, readPublished, recentlyPublished } from './observe.ts';
import type { Session } from './session.ts';
import { type Look, type LookPlan, type Moment, planLook, sightOf } from './sight.ts';
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

export async function lookAt(
  session: Session,
  look: Look,
  options: LookOptions,
  signal: AbortSignal,
): Promise<Outcome> {
  const plan = planLook(session.feed, look, options.epoch);
  let known = recentlyPublished(session, plan);
  for (let left = LOOKS_MAX; ; left -= 1) {
    const published = known ?? (await readOne(session, plan, signal));
    const decision = judge(session, look, plan, published, options);
    // What is only remembered is reason enough to try, but not to do nothing.
    const isSure = known === undefined || decision.steps.length > 0;
    known = undefined;
    if (!isSure) continue;
    try {
      return await act(session, decision, signal);
    } catch (error) {
      if (left <= 1 || !isConflict(error)) throw error;
    }
  }
}

/** Many looks with few reads. Answers the outcome of each, in their order. */
export async function lookAtAll(
  session: Session,
  looks: readonly Look[],
  options: LookOptions,
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  const plans = looks.map((look) => planLook(session.feed, look, options.epoch));
  const published = await readPublished(session, plans, signal);
  const outcomes: Outcome[] = [];
  await inTurns(looks.entries(), signal, async ([index, look]) => {
    const plan = plans[index] ?? planLook(session.feed, look, options.epoch);
    const decision = judge(session, look, plan, published[index] ?? [], options);
    outcomes[index] = await act(session, decision, signal).catch((error: unknown) => {
      if (isConflict(error)) return lookAt(session, look, options, signal);
      throw error;
    });
  });
  return outcomes;
}

/**
 * Looks at what the API server was just asked about. What was published since `before` came later
 * than the answer and is left to the next sweep.
 */
export async function lookAtTruth(
  session: Session,
  look: Look,
  options: Moment & { readonly before: number },
  signal: AbortSignal,
): Promise<Outcome> {
  const plan = planLook(session.feed, look, options.epoch);
  const [published = []] = await readPublished(session, [plan], signal);
  if (published.some(({ sequence }) => sequence > options.before)) return 'overtaken';
  const decision = judge(session, look, plan, published, { ...options, trust: 'truth' });
  return act(session, decision, signal).catch(overtakenOnConflict);
}

/** Ends what stands on one subject and should not. */
export async function buryAt(
  session: Session,
  entry: Published,
  options: Moment & { readonly resourceVersion: string; readonly isTruth: boolean },
  signal: AbortSignal,
): Promise<Outcome> {
  const { nowMs, ...sight } = options;
  const at = new Date(nowMs).toISOString();
  const uid = entry.message?.uid ?? '';
  const decision = decide({ ...sight, shown: [], closed: [], uid, at }, [entry]);
  return act(session, decision, signal).catch(overtakenOnConflict);
}

function overtakenOnConflict(error: unknown): Outcome {
  if (isConflict(error)) return 'overtaken';
  throw error;
}

function judge(
  session: Session,
  look: Look,
  plan: LookPlan,
  published: readonly Published[],
  { trust, ...moment }: LookOptions,
): Decision {
  const sight = sightOf(session.feed, look, plan, moment);
  const closed = trust === 'hint' ? sight.closed : [];
  return decide({ ...sight, closed, isTruth: trust === 'truth' }, published);
}

async function act(session: Session, decision: Decision, signal: AbortSignal): Promise<Outcome> {
  if (decision.steps.length === 0) return asOutcome(decision);
  const taken = await takeSteps(session, decision.steps, signal);
  return taken === 'oversize' ? 'oversize' : asOutcome(decision);
}

function asOutcome({ outcome }: Decision): Outcome {
  return outcome === 'changed' ? 'published' : outcome;
}
