// The steps of this function: each is one change that others can see. Pure.
import type { Decision as DecisionOf } from '../../shared/stateful/decision.ts';
import type { Records } from './records.ts';
import type { FoundClaim, FoundMade, FoundOperator, FoundPeer, FoundService } from './state.ts';

/** Objects that are made, and deleted again when it is taken back. */
export type MadeKind = 'claim' | 'EtcdBackup' | 'EtcdRestore' | 'EtcdCluster';

/** Taken whatever is taken over. */
export type CommonStep =
  | { readonly type: 'write-records'; readonly records: Records }
  | {
      readonly type: 'scale-operator';
      readonly operator: FoundOperator;
      readonly replicas: number;
    };

export type Step =
  | CommonStep
  | { readonly type: 'raise-alarm' | 'end-alarm'; readonly pod: string }
  | { readonly type: 'make'; readonly kind: Exclude<MadeKind, 'EtcdCluster'> }
  | { readonly type: 'delete'; readonly kind: MadeKind; readonly found: FoundMade }
  | { readonly type: 'switch-service'; readonly service: FoundService }
  | { readonly type: 'orphan-claim'; readonly claim: FoundClaim }
  | { readonly type: 'release-peer'; readonly peer: FoundPeer }
  | { readonly type: 'delete-legacy'; readonly uid: string; readonly resourceVersion: string };

export type Decision = DecisionOf<Step>;
export type CommonDecision = DecisionOf<CommonStep>;
