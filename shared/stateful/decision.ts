// The result of a plan: at most one step, the next action in words, and the reason to wait. The
// steps are the function's. Pure.
import type { Reason } from '../kube/conditions.ts';
import type { KubeObject } from '../kube/objects.ts';

export interface Decision<Step> {
  /** Undefined when it has to wait, or when there is nothing to do. */
  readonly step?: Step;
  /** The next action, for people: `Restart nats-2`. */
  readonly next: string;
  readonly waitsFor?: Reason;
  /** A reason that needs a person; Degraded shows it. */
  readonly trouble?: Reason;
}

export const NOTHING: Decision<never> = { next: 'Nothing' };

/** Plans one kind of change; undefined when nothing of that kind is to be done. */
export type Planner<State, Step> = (state: State) => Decision<Step> | undefined;

/** The first planner that has a step, or something to wait for, wins. */
export function firstOf<State, Step>(
  planners: readonly Planner<State, Step>[],
  state: State,
): Decision<Step> {
  for (const planner of planners) {
    const decision = planner(state);
    if (decision !== undefined) return decision;
  }
  return NOTHING;
}

/** An object that ends, or that its user has paused, is left alone; undefined for any other. */
export function leftAlone({ object, spec }: LeftAlone): Decision<never> | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return NOTHING;
  return spec.paused ? { next: 'Nothing', waitsFor: PAUSED } : undefined;
}

interface LeftAlone {
  readonly object: KubeObject;
  readonly spec: { readonly paused: boolean };
}

const PAUSED = { reason: 'Paused', message: 'spec.paused is true.' };

/** At rest: nothing to do, nothing to wait for, and nothing to tell a person. */
export const isAtRest = ({ step, waitsFor, trouble }: Decision<unknown>): boolean =>
  step === undefined && waitsFor === undefined && trouble === undefined;

/** Thousands of reasons may come at once; a person begins with the first. */
const REASONS_SHOWN_MAX = 8;

/** Messages as one text. */
export function joined(reasons: readonly Reason[]): string {
  const shown = reasons.slice(0, REASONS_SHOWN_MAX).map(({ message }) => message);
  const left = reasons.length - shown.length;
  return [...shown, ...(left > 0 ? [`And ${left} more.`] : [])].join(' ');
}

/** Names in a sentence. */
export function listed(names: readonly string[]): string {
  const left = names.length - REASONS_SHOWN_MAX;
  const shown = names.slice(0, REASONS_SHOWN_MAX).join(', ');
  return left > 0 ? `${shown} and ${left} more` : shown;
}

/**
 * Waits for what heals by itself. A provisioner that refuses a claim goes on refusing it, so that
 * needs a person.
 */
export function waitToHeal(next: string, blockers: readonly Reason[]): Decision<never> {
  const pending = blockers.filter(({ reason }) => reason === 'ClaimPending');
  const [first] = pending;
  if (first === undefined) return waitFor(next, blockers);
  return waitFor(next, blockers, { ...first, message: joined(pending) });
}

/** A decision to wait, with the first blocker as the reason and all of them in the message. */
export const waitFor = (
  next: string,
  blockers: readonly Reason[],
  trouble?: Reason,
): Decision<never> => ({
  next,
  waitsFor: {
    reason: blockers[0]?.reason ?? 'Waiting',
    message: joined(blockers),
  },
  ...(trouble === undefined ? {} : { trouble }),
});
