// The steps that change a NATS cluster, one of which a decision may take.
import type { SecretToMake } from '../../shared/stateful/certificates/secret-data.ts';
import type { Claim } from '../../shared/stateful/claims.ts';
import type { Decision as DecisionOf } from '../../shared/stateful/decision.ts';
import type { Pod } from '../../shared/stateful/pods.ts';
import type { RenderedPart } from './render/manifests.ts';
import type { Records } from './state.ts';

/** One change that others can see. */
export type Step =
  | { readonly type: 'make-secret'; readonly secret: SecretToMake }
  | { readonly type: 'apply'; readonly part: RenderedPart }
  | { readonly type: 'grow'; readonly claim: Claim; readonly size: string }
  /**
   * Deletes the StatefulSet alone and leaves its pods to the next one: its claim template is
   * immutable.
   */
  | { readonly type: 'orphan'; readonly uid: string; readonly resourceVersion: string }
  | { readonly type: 'reload'; readonly server: string; readonly id: string }
  | { readonly type: 'step-down'; readonly from: string; readonly to: string | undefined }
  | { readonly type: 'restart'; readonly pod: Pod; readonly reason: string }
  | {
      readonly type: 'move';
      readonly account: string;
      readonly stream: string;
      readonly server: string;
    }
  | { readonly type: 'remove-peer'; readonly server: string; readonly peerId: string }
  | { readonly type: 'delete-claim'; readonly claim: Claim; readonly server: string }
  | { readonly type: 'delete-pod'; readonly pod: Pod; readonly reason: string }
  | WriteRecords;

/** Changes only the records in the status: before something is destroyed, and after. */
export interface WriteRecords {
  readonly type: 'write-records';
  readonly records: Records;
}

export type Decision = DecisionOf<Step>;
