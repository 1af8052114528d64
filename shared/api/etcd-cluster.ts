// EtcdCluster as the API server stores it: what an etcd is to be, and how it is.
// knative/crds/etcd-cluster.yaml is the source of truth; defaults are filled in by the API server.
import type { EtcdAuth, EtcdAuthStatus } from './etcd-auth.ts';
import type { OldMember } from './etcd-joins.ts';
import type { AccessMode, Amounts } from './servers.ts';

export const ETCD_CLUSTERS = {
  group: 'ballast.dev',
  version: 'v1alpha1',
  resource: 'etcdclusters',
} as const;

/** Renewed by each sweep; it names the clusters that could not be reconciled. */
export const ETCD_CLUSTER_LEASE = 'ballast-etcd-cluster';

/** On everything that belongs to a cluster, with its name as the value. */
export const ETCD_CLUSTER_LABEL = 'ballast.dev/etcd-cluster';

/** The needs of a pod of etcd: an EtcdCluster has them for all, an EtcdPeer for its own. */
export interface EtcdSettings {
  readonly image: string;
  readonly storage: EtcdStorage;
  readonly tls: { readonly clients: EtcdTls; readonly peers: EtcdTls };
  /** How large the database may become before etcd takes no more writes. */
  readonly quota: string;
  /** How long the history of keys is kept. */
  readonly compaction: EtcdCompaction;
  readonly heartbeatMilliseconds: number;
  readonly electionMilliseconds: number;
  /** Writes between two snapshots of the Raft log. */
  readonly snapshotCount: number;
  readonly resources: { readonly requests?: Amounts; readonly limits?: Amounts };
  readonly spread: 'Preferred' | 'Required';
}

export interface EtcdStorage {
  /** Memory loses the data of a member with its pod: such a member is replaced. */
  readonly medium: 'Volume' | 'Memory';
  readonly size: string;
  readonly storageClassName?: string;
  /** ReadWriteOncePod when absent, and no claim is there that has another. */
  readonly accessMode?: AccessMode;
}

export interface EtcdTls {
  /** Mutual: both sides show a certificate. None: anybody who reaches the port is let in. */
  readonly mode: 'Mutual' | 'None';
  /** Without a Secret of the user's certificates are made and renewed for him. */
  readonly secretName?: string;
}

export interface EtcdCompaction {
  readonly mode: 'Periodic' | 'Revision' | 'None';
  /** A duration as `8h`, or a number of revisions; absent for None. */
  readonly retention?: string;
}

export interface EtcdDefragmentation {
  /** Automatic: when much of a database is free. None: only when it is full. */
  readonly mode: 'Automatic' | 'None';
  /** Hours of the day in UTC, as `01:00-05:00`; at any time when absent. */
  readonly window?: string;
}

export interface EtcdClusterSpec extends EtcdSettings {
  /** 0 hibernates: no pods, and every claim is kept. */
  readonly replicas: number;
  /** Without it every client may do everything. */
  readonly auth?: EtcdAuth;
  /** Clients that may connect: all, or those that other policies let in; None creates no policy. */
  readonly networkPolicy: 'Open' | 'Closed' | 'None';
  /** When the free part of databases is given back to the volume. */
  readonly defragmentation: EtcdDefragmentation;
  readonly paused: boolean;
  /** The id of the plan in the status by which a lost quorum is to be recovered. */
  readonly recovery?: { readonly confirm: string };
}

export interface EtcdClusterStatus {
  readonly observedGeneration?: number;
  /** How many members there are to be at this moment. */
  readonly replicas?: number;
  readonly selector?: string;
  /** Voting members that are healthy, of those that are wanted: `3/3`. */
  readonly voters?: string;
  readonly version?: string;
  readonly leader?: string;
  /** The largest database of a member, and the quota: `1.2GiB of 2GiB`. */
  readonly database?: string;
  /** In hex, as etcdctl prints it. Written once, before the cluster is called Ready. */
  readonly clusterId?: string;
  readonly backup?: LastBackup;
  readonly bootstrap?: Bootstrap;
  /** Members of a legacy cluster that are still in the list; nothing else is done meanwhile. */
  readonly joining?: readonly OldMember[];
  readonly leaving?: LeavingMember;
  readonly restarting?: RestartingMember;
  readonly refusing?: RefusingMember;
  readonly refused?: RefusedData;
  /** Absent while a quorum confirms who the members are. */
  readonly quorumLostSince?: string;
  readonly recovery?: RecoveryPlan;
  readonly recovering?: Recovering;
  readonly recovered?: Recovered;
  readonly defragmenting?: DefragmentingMember;
  readonly compacting?: Compacting;
  readonly auth?: EtcdAuthStatus;
  readonly members?: readonly MemberStatus[];
  readonly plan?: { readonly next: string; readonly waitsFor?: string };
  readonly conditions?: readonly ClusterCondition[];
}

/** The newest good backup of it that an EtcdBackupSchedule tells of. */
export interface LastBackup {
  /** The EtcdBackup. */
  readonly name: string;
  readonly schedule: string;
  readonly location: string;
  readonly revision: string;
  readonly takenAt: string;
  readonly isHashConfirmed: boolean;
}

/** The one birth of this EtcdCluster: written before the seed is made, and never again. */
export interface Bootstrap {
  readonly seed: string;
  readonly since: string;
  /** With Memory: the version with which it was born, which otherwise its claims tell. */
  readonly version?: string;
}

export interface MemberStatus {
  readonly name: string;
  /** In hex, as etcdctl prints it. */
  readonly id?: string;
  readonly role?: 'Leader' | 'Follower' | 'Learner';
  readonly version?: string;
  readonly ready?: boolean;
  readonly databaseBytes?: number;
  readonly databaseBytesInUse?: number;
  /** The newest revision of the keys; these three are of when something else of it changed. */
  readonly revision?: number;
  /** Whether its pod is as the spec wants it. */
  readonly upToDate?: boolean;
  readonly startingSince?: string;
  readonly lastContact?: string;
}

/** Written before the member is removed, and forgotten after its claim is. */
export interface LeavingMember {
  readonly peer: string;
  readonly peerUid: string;
  /** In decimal, as etcd's gateway takes it. Absent when no member of that peer was found. */
  readonly memberId?: string;
  /** Absent when it has none, or when it is to stay. */
  readonly claim?: string;
  readonly claimUid?: string;
  readonly reason: string;
  readonly since: string;
}

/** The one member that may be away at our wish: written before its pod is deleted. */
export interface RestartingMember {
  readonly peer: string;
  readonly podUid: string;
  readonly reason: string;
  readonly since: string;
}

/** A member that ends at each start because of its data: its starts are counted from here on. */
export interface RefusingMember {
  readonly peer: string;
  readonly podUid: string;
  /** How often its container had been started again by then. */
  readonly restarts: number;
  readonly since: string;
}

/** Written before such a member is removed, and forgotten with its claim: none is until then. */
export interface RefusedData {
  readonly peer: string;
  /** Kept aside. */
  readonly claim: string;
  readonly claimUid: string;
  readonly why: string;
  readonly at: string;
}

/** It is done about a lost quorum once a person has confirmed it by its id. */
export interface RecoveryPlan {
  readonly id: string;
  /** The member that would go on alone. */
  readonly survivor: string;
  /** In hex, as etcdctl prints it. */
  readonly memberId: string;
  /** Its newest revision: what was written later is lost. */
  readonly revision: string;
  /** Members that do not answer. */
  readonly lost: readonly string[];
  /** Members that answer too, and would join anew without their data. */
  readonly others: readonly string[];
  /** The line by which a person confirms it. */
  readonly command: string;
}

/** A confirmed recovery: written before anything is stopped, and forgotten once a quorum stands. */
export interface Recovering {
  readonly id: string;
  /** The number among all recoveries of this EtcdCluster; an EtcdPeer takes no older one. */
  readonly number: number;
  readonly survivor: string;
  readonly peerUid: string;
  /** In decimal, as etcd's gateway has it. */
  readonly memberId: string;
  readonly revision: string;
  readonly raftIndex: number;
  /** The EtcdPeers that may be deleted, and no others. */
  readonly others: readonly { readonly peer: string; readonly peerUid: string }[];
  /** The pod of the survivor that may be deleted, and no other. */
  readonly podUid?: string;
  readonly since: string;
}

export interface Recovered {
  readonly id: string;
  readonly number: number;
  readonly survivor: string;
  readonly revision: string;
  readonly at: string;
}

/** The one member whose database is copied anew: written before, and it serves nobody meanwhile. */
export interface DefragmentingMember {
  readonly peer: string;
  /** In decimal, as etcd's gateway takes it. */
  readonly memberId: string;
  /** How large the database was: it is done when it is smaller. */
  readonly databaseBytes: number;
  readonly since: string;
}

/** The compaction of a database that is full: written before, and forgotten with the alarm. */
export interface Compacting {
  /** In decimal; what was before it is forgotten. */
  readonly revision: string;
  readonly since: string;
  /** EtcdPeers that have copied their databases since: what these hold by now is keys. */
  readonly defragmented?: readonly string[];
}

/** Ready, Quorate, BackupReady, Progressing and Degraded. */
interface ClusterCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}
