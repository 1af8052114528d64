// The result of a plan: at most one step, the next action in words, and the reason to wait. The
// steps are the function's. Pure.
import type { Reason } from '../kube/conditions.ts';

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
