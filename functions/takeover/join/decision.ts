// The steps of a takeover in which members join: each is one change that others can see. Pure.
import type { NewMember } from '../../../shared/api/takeover.ts';
import type { Decision as DecisionOf } from '../../../shared/stateful/decision.ts';
import type { Step } from '../decision.ts';
import type { MakeStep } from '../own-cluster.ts';
import type { FoundService } from '../state.ts';
import type { Place } from './members.ts';

/** `by`: the member that is asked for it. */
export type JoinStep =
  | MakeStep
  | { readonly type: 'add-member'; readonly member: NewMember; readonly by: Place }
  | { readonly type: 'move-leader'; readonly by: Place; readonly to: Place }
  | { readonly type: 'remove-member'; readonly member: Place; readonly by: Place }
  | { readonly type: 'lead-back'; readonly service: FoundService };

export type JoinDecision = DecisionOf<Step | JoinStep>;
