// The steps that change a NATS cluster, one of which a decision may take.
import type { Decision as DecisionOf } from '../../shared/stateful/decision.ts';
import type { StatefulStep } from '../../shared/stateful/steps.ts';
import type { PartKey } from './render/manifests.ts';
import type { Records, Unnamed } from './state.ts';

/** One change that others can see. */
export type Step =
  | StatefulStep<PartKey>
  | { readonly type: 'name-secrets'; readonly unnamed: Unnamed }
  | { readonly type: 'reload'; readonly server: string; readonly id: string }
  | { readonly type: 'step-down'; readonly from: string; readonly to: string | undefined }
  | {
      readonly type: 'move';
      readonly account: string;
      readonly stream: string;
      readonly server: string;
    }
  | { readonly type: 'remove-peer'; readonly server: string; readonly peerId: string }
  | WriteRecords;

/** Changes only the records in the status: before something is destroyed, and after. */
export interface WriteRecords {
  readonly type: 'write-records';
  readonly records: Records;
}

export type Decision = DecisionOf<Step>;
