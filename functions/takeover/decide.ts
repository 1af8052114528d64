// Decides what is next: there is a plan or something speaks against it, and neither is carried out
// by this version. Pure.
import type { TakeoverPlan } from '../../shared/api/takeover.ts';
import type { Decision as DecisionOf } from '../../shared/stateful/decision.ts';
import { joined, NOTHING, waitFor } from '../../shared/stateful/decision.ts';
import { isEnding } from './object.ts';
import { planOf } from './plan.ts';
import type { State } from './state.ts';

/** There is none yet: this function changes nothing but its own status. */
export type Step = never;

export interface Decision extends DecisionOf<Step> {
  /** Undefined for a Takeover that is being deleted. */
  readonly plan?: TakeoverPlan;
}

export function decide(state: State): Decision {
  if (isEnding(state.takeover)) return NOTHING;
  const plan = planOf(state);
  const [first] = plan.refusals;
  if (first === undefined) return { next: plan.next, plan };
  const trouble = { reason: first.reason, message: joined(plan.refusals) };
  return { ...waitFor(plan.next, plan.refusals, trouble), plan };
}
