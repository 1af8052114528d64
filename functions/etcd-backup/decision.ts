// The one step of this function. Pure.
import type { Decision as DecisionOf } from '../../shared/stateful/decision.ts';
import type { Source } from './state.ts';

export interface Step {
  readonly type: 'make-job';
  readonly source: Source;
}

export type Decision = DecisionOf<Step>;
