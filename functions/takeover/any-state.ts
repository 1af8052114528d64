// A state of whichever kind is taken over, its plan, and what can be done next. Pure.
import type { TakeoverPlan } from '../../shared/api/takeover.ts';
import type { Decision as DecisionOf } from '../../shared/stateful/decision.ts';
import type { Step } from './decision.ts';
import type { JoinStep } from './join/decision.ts';
import type { NatsStep } from './nats/decision.ts';
import { planOfNats } from './nats/plan.ts';
import type { NatsState } from './nats/state.ts';
import { planOf } from './plan.ts';
import type { State } from './state.ts';

export type AnyState = State | NatsState;
export type AnyStep = Step | JoinStep | NatsStep;
export type AnyDecision = DecisionOf<AnyStep>;

export const isOfNats = (state: AnyState): state is NatsState => 'servers' in state;

export const anyPlanOf = (state: AnyState): TakeoverPlan =>
  isOfNats(state) ? planOfNats(state) : planOf(state);
