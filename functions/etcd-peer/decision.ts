// The steps of this function: each is one change that others can see. Pure.
import type { Decision as DecisionOf } from '../../shared/stateful/decision.ts';
import type { FoundSet, PeerClaim, Records } from './state.ts';

export type Step =
  | { readonly type: 'hold' }
  | { readonly type: 'make-claim' }
  | WriteRecords
  | { readonly type: 'grow'; readonly claim: PeerClaim; readonly size: string }
  | { readonly type: 'apply' }
  | { readonly type: 'stop'; readonly statefulSet: FoundSet }
  | { readonly type: 'delete'; readonly statefulSet: FoundSet }
  | { readonly type: 'release' };

/**
 * Says in the status which claim it is, before a pod can write into it, or which pod has the data
 * in memory.
 */
export interface WriteRecords {
  readonly type: 'write-records';
  readonly records: Records;
}

export type Decision = DecisionOf<Step>;
