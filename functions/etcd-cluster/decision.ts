// The steps of this function: each is one change that others can see. Pure.
import type { EtcdUser } from '../../shared/api/etcd-auth.ts';
import type { EtcdPeerSpec } from '../../shared/api/etcd-peer.ts';
import type { Permission } from '../../shared/etcd/admin/roles.ts';
import type { Decision as DecisionOf } from '../../shared/stateful/decision.ts';
import type { StatefulStep } from '../../shared/stateful/steps.ts';
import type { PartKey } from './render.ts';
import type { Peer, PeerClaim, Records } from './state.ts';

export type Step =
  | Extract<StatefulStep<PartKey>, { type: 'make-secret' | 'apply' | 'delete-claim' | 'restart' }>
  /** Created and never applied: a second instance must not start a second first member. */
  | { readonly type: 'make-peer'; readonly name: string; readonly spec: EtcdPeerSpec }
  | { readonly type: 'update-peer'; readonly peer: Peer; readonly spec: EtcdPeerSpec }
  | { readonly type: 'delete-peer'; readonly peer: Pick<Peer, 'name' | 'uid' | 'resourceVersion'> }
  | {
      readonly type: 'mark-claim';
      readonly claim: PeerClaim;
      readonly clusterId: string;
      /** Absent to leave what is there. */
      readonly version?: string | undefined;
      readonly born?: string | undefined;
    }
  | OnEtcd
  | OnUpkeep
  | { readonly type: 'change-auth'; readonly change: AuthChange }
  | WriteRecords;

/** Asked of the members. */
export type OnEtcd =
  | { readonly type: 'add-learner'; readonly peer: string; readonly url: string }
  | { readonly type: 'promote'; readonly peer: string; readonly memberId: string }
  | { readonly type: 'remove-member'; readonly peer: string; readonly memberId: string }
  | {
      readonly type: 'move-leader';
      readonly from: string;
      readonly to: string;
      readonly memberId: string;
    };

/** Asked of the members, whose number and votes stay as they are. */
export type OnUpkeep =
  | { readonly type: 'compact'; readonly revision: string }
  | { readonly type: 'defragment'; readonly peer: string; readonly memberId: string }
  | {
      readonly type: 'disarm';
      readonly memberId: string;
      readonly alarm: 'NOSPACE' | 'CORRUPT';
      readonly why: string;
    };

/** A change of users and roles. No password is in it: steps are told apart by what they say. */
export type AuthChange =
  | { readonly do: 'enable' | 'disable' }
  | { readonly do: 'add-role' | 'delete-role'; readonly role: string }
  | { readonly do: 'grant' | 'revoke'; readonly role: string; readonly permission: Permission }
  | { readonly do: 'add-user'; readonly user: string; readonly login: EtcdUser['login'] }
  | { readonly do: 'delete-user' | 'change-password'; readonly user: string }
  | { readonly do: 'give-role' | 'take-role'; readonly user: string; readonly role: string };

/** Changes only the records in the status: before something is destroyed, and after. */
export interface WriteRecords {
  readonly type: 'write-records';
  readonly records: Records;
}

export type Decision = DecisionOf<Step>;
