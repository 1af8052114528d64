// The steps of a takeover of a NatsCluster: each is one change that others can see. Pure.
import type { Decision as DecisionOf } from '../../../shared/stateful/decision.ts';
import type { CommonStep } from '../decision.ts';
import type { FoundMade, FoundService } from '../state.ts';
import type { FoundServer } from './state.ts';

export type NatsStep =
  | CommonStep
  | { readonly type: 'make-nats-cluster' }
  | { readonly type: 'make-users'; readonly cluster: FoundMade }
  /** None of them: those that there are go. */
  | {
      readonly type: 'set-routes';
      readonly cluster: FoundMade;
      readonly routes: readonly string[];
    }
  | { readonly type: 'lead-over' | 'lead-back'; readonly service: FoundService }
  | { readonly type: 'delete-server'; readonly server: FoundServer }
  /** So that the pods of the highest numbers leave. */
  | {
      readonly type: 'scale-down';
      readonly uid: string;
      readonly resourceVersion: string;
      readonly replicas: number;
    }
  | { readonly type: 'delete-nats-cluster'; readonly found: FoundMade }
  | { readonly type: 'delete-legacy-nats'; readonly uid: string; readonly resourceVersion: string };

export type NatsDecision = DecisionOf<NatsStep>;
