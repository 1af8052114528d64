// The state of a takeover: all that a look has found, and nothing that follows from it.
import type { EtcdClusterSpec } from '../../shared/api/etcd-cluster.ts';
import type { EtcdAlarm } from '../../shared/etcd/admin/alarms.ts';
import type { LegacyAnswer } from '../../shared/etcd/legacy.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { OwnerReference } from '../../shared/kube/objects.ts';
import type { SecretData } from '../../shared/stateful/certificates/secret-data.ts';
import type { LegacyEtcd } from './legacy.ts';
import type { Takeover } from './object.ts';

export interface FoundPod {
  readonly name: string;
  /** The name of the member in it: that of its host, or that of the pod where none is said. */
  readonly member: string;
  readonly uid: string;
  readonly ip: string | undefined;
  readonly isRunning: boolean;
  /** The claim with its data; without one that goes with the pod. */
  readonly claim: string | undefined;
  /** The kubelet ends it when it says that it is not healthy, as with an alarm. */
  readonly endsUnhealthy: boolean;
  /** The kubelet ends it when it does not become ready, as with an alarm, until it was so once. */
  readonly isStarting: boolean;
}

export interface FoundService {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly selector: Readonly<Record<string, string>>;
  /** It goes with the legacy object. */
  readonly isOwned: boolean;
  readonly owners: readonly OwnerReference[];
  /** Ports of a chart, which call those of containers by name. */
  readonly ports?: readonly Readonly<Record<string, unknown>>[];
  readonly isHeadless?: boolean;
}

export interface FoundClaim {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** By the legacy object itself. */
  readonly isOwned: boolean;
  /** It goes with its pod, whatever becomes of its owner. */
  readonly isEnding: boolean;
  readonly owners: readonly OwnerReference[];
}

/** The one of the legacy object, where its pods are not bare. */
export interface FoundStatefulSet {
  readonly name: string;
  readonly uid: string;
  /** Claims stay when it goes. */
  readonly keepsClaims: boolean;
  /** Its controller ends pods that are not as it would make them now. */
  readonly isRolling: boolean;
}

/** An object that has a pod of the legacy object, by a ReplicaSet of its name. */
export interface FoundPeer {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isEnding: boolean;
  readonly finalizers: readonly string[];
}

export interface FoundOperator {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly replicas: number;
  /** Pods of it that are there still. */
  readonly running: number;
  /** When those that end are gone, where they are not counted. */
  readonly endsAtMs: number | undefined;
}

/** A Secret that matters, as far as it may be read. */
export type FoundSecret =
  | { readonly is: 'found'; readonly resourceVersion: string; readonly data: SecretData }
  | { readonly is: 'missing' }
  | { readonly is: 'forbidden' };

/** The answer of a member, or why there is none. */
export type Asked = LegacyAnswer | { readonly silent: string };

export interface TargetOf<Spec> {
  /** As it is asked for: what the legacy object says, and over it `spec.into.spec`. */
  readonly wanted: Readonly<Record<string, unknown>>;
  /** As the API server would store it. */
  readonly spec: Spec | undefined;
  /** Why it would store none. */
  readonly refused?: Reason;
}

export type Target = TargetOf<EtcdClusterSpec>;

/** An object that is made for the takeover. */
export interface FoundMade {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** False for one of somebody else. */
  readonly isOurs: boolean;
  readonly isEnding: boolean;
  readonly createdAt: string;
}

/** A claim of the new name; ours by the id of the new cluster, which it gets after the birth. */
export interface FoundMemberClaim extends FoundMade {
  /** It has the id of a cluster. */
  readonly isMarked: boolean;
}

/** An EtcdBackup or EtcdRestore, by its own word. */
export interface FoundJob extends FoundMade {
  readonly phase: string | undefined;
  /** Its reason for how it is. */
  readonly says: Reason;
  /** It needs a person. */
  readonly isDegraded: boolean;
  /** That of the snapshot. */
  readonly revision: string | undefined;
  readonly keys: number | undefined;
  /** A backup has that of the legacy cluster, a restore that of the new one. */
  readonly clusterId: string | undefined;
}

export interface FoundCluster extends FoundMade {
  readonly isReady: boolean;
  readonly says: string;
  /** As it tells it; undefined before it is born. */
  readonly clusterId: string | undefined;
}

/** The new cluster, and what its members leave behind. */
export interface Own {
  readonly cluster: FoundCluster | undefined;
  /** Looked for while it is taken back. */
  readonly memberClaims: readonly FoundMemberClaim[];
}

/** How far keys were compared in this look. */
export interface Comparison {
  readonly keys: number;
  readonly after: string;
  readonly isWhole: boolean;
  /** The first difference, as a sentence. */
  readonly differs?: string;
}

/** Looked for while a plan is carried out or taken back. */
export interface Work extends Own {
  /** By pods that answered. */
  readonly alarms: ReadonlyMap<string, readonly EtcdAlarm[]>;
  readonly claim: FoundMade | undefined;
  readonly backup: FoundJob | undefined;
  readonly restore: FoundJob | undefined;
  /** Read only when it is time for it; or why nothing could be compared. */
  readonly comparison: Comparison | Reason | undefined;
}

/** A pod of the new cluster, and the member in it. */
export interface FreshMember {
  readonly pod: string;
  readonly ip: string | undefined;
  readonly asked: Asked;
}

/** Looked for while members join, and until it is over. */
export interface Joining extends Own {
  readonly fresh: readonly FreshMember[];
  /** How the data of new members compares; read only when it is time for it. */
  readonly hashes: { readonly isSame: boolean; readonly told: string } | Reason | undefined;
}

/** Looked for, whatever is taken over. */
export interface Seen {
  readonly takeover: Takeover;
  readonly nowMs: number;
  /** Whether the API server knows the kind at all. */
  readonly isKindKnown: boolean;
  /** Pods with its label that are not its own. */
  readonly strangers: readonly string[];
  /** There are more pods or claims than are told of. */
  readonly isCut: boolean;
  readonly operators: readonly FoundOperator[];
  /** The one that the Takeover names may not be looked at. */
  readonly isOperatorForbidden: boolean;
  /** Why the API server would not lead the Service over, where it was asked. */
  readonly leadRefused: Reason | undefined;
  /** Objects with names of the new cluster, as `Service new`. */
  readonly taken: readonly string[];
  /** Older Takeovers of the same object that are not over. */
  readonly others: readonly string[];
}

export interface State extends Seen {
  /** Nothing below is looked for without it. */
  readonly legacy: LegacyEtcd | undefined;
  readonly pods: readonly FoundPod[];
  readonly client: FoundService | undefined;
  readonly headless: FoundService | undefined;
  readonly statefulSet: FoundStatefulSet | undefined;
  readonly peers: readonly FoundPeer[];
  readonly claims: readonly FoundClaim[];
  readonly secrets: ReadonlyMap<string, FoundSecret>;
  /** By pods; undefined where nobody was asked. */
  readonly members: ReadonlyMap<string, Asked> | undefined;
  readonly target: Target;
  readonly work: Work | undefined;
  /** The same of a plan in which members join. */
  readonly joining: Joining | undefined;
  /** The same of a plan that gives the data up. */
  readonly wiping: Own | undefined;
}
