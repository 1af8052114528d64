// A state of whichever kind is taken over, and its plan. Pure.
import type { TakeoverPlan } from '../../shared/api/takeover.ts';
import { planOfNats } from './nats/plan.ts';
import type { NatsState } from './nats/state.ts';
import { planOf } from './plan.ts';
import type { State } from './state.ts';

export type AnyState = State | NatsState;

export const isOfNats = (state: AnyState): state is NatsState => 'servers' in state;

export const anyPlanOf = (state: AnyState): TakeoverPlan =>
  isOfNats(state) ? planOfNats(state) : planOf(state);
