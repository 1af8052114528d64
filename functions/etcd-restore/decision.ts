// The steps of this function: each is one change that others can see. Pure.
import type { EtcdClusterSpec } from '../../shared/api/etcd-cluster.ts';
import type { FoundJob } from '../../shared/jobs/job.ts';
import type { Decision as DecisionOf } from '../../shared/stateful/decision.ts';
import type { Backup, FoundClaim, Records } from './state.ts';

export type Step =
  | { readonly type: 'write-records'; readonly records: Records }
  | { readonly type: 'make-claim'; readonly target: EtcdClusterSpec }
  | { readonly type: 'make-job'; readonly backup: Backup; readonly target: EtcdClusterSpec }
  | { readonly type: 'make-cluster' }
  | { readonly type: 'hand-over'; readonly claim: FoundClaim }
  | { readonly type: 'delete-claim'; readonly claim: FoundClaim }
  | { readonly type: 'delete-job'; readonly job: FoundJob };

export type Decision = DecisionOf<Step>;
