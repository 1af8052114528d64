// NatsCluster as the API server stores it: what a cluster is to be, and how it is.
// knative/crds/nats-cluster.yaml is the source of truth; defaults are filled in by the API server.
import type { AccessMode, Amounts } from './servers.ts';

export const NATS_CLUSTERS = {
  group: 'ballast.dev',
  version: 'v1alpha1',
  resource: 'natsclusters',
} as const;

/** Renewed by each sweep; it names the clusters at which the look failed. */
export const NATS_CLUSTER_LEASE = 'ballast-nats-cluster';

/** On everything that belongs to a cluster, with its name as the value. */
export const NATS_CLUSTER_LABEL = 'ballast.dev/nats-cluster';

export interface NatsClusterSpec {
  readonly replicas: number;
  readonly image: string;
  readonly jetStream: {
    readonly fileStorage?: {
      readonly size: string;
      readonly storageClassName?: string;
      /** ReadWriteOncePod when absent, and no claims are there that have another. */
      readonly accessMode?: AccessMode;
    };
    readonly memory?: { readonly size: string };
  };
  readonly tls?: { readonly clients?: Certificates; readonly routes?: Certificates };
  readonly accounts?: readonly Account[];
  /** The name of the NATS cluster where that is not the one of the object. */
  readonly clusterName?: string;
  /** Servers of other clusters that ours are routed with, as `host:port`. */
  readonly extraRoutes?: readonly string[];
  readonly lameDuck: { readonly graceSeconds: number; readonly durationSeconds: number };
  readonly resources: { readonly requests?: Amounts; readonly limits?: Amounts };
  readonly monitoringPort: number;
  /** Clients that may connect: all, or those that other policies let in; None creates no policy. */
  readonly networkPolicy: 'Open' | 'Closed' | 'None';
  readonly spread: 'Preferred' | 'Required';
  readonly unreplicatedStreams: 'Interrupt' | 'Wait';
  readonly waive?: readonly Waiver[];
  readonly paused: boolean;
}

/** The one that every server has, and those that know no accounts have alone. */
export const GLOBAL_ACCOUNT = '$G';

/** Without a Secret of the user's they are made and renewed for him. */
export interface Certificates {
  readonly secretName?: string;
}

export interface Account {
  readonly name: string;
  readonly jetStream: boolean;
  /** Feeds whose streams this account holds. */
  readonly feeds?: readonly string[];
  readonly users: readonly User[];
}

/** Without reads, writes and permissions he may do everything in his account. */
export interface User {
  readonly name: string;
  /** One is made when absent. */
  readonly passwordSecret?: { readonly name: string; readonly key: string };
  /** Feeds of his account. */
  readonly writes?: readonly string[];
  /** In an account that has nothing else than users who read. */
  readonly reads?: FeedReading;
  readonly permissions?: {
    readonly publish?: Rights;
    readonly subscribe?: Rights;
    readonly allowResponses: boolean;
  };
}

export interface FeedReading {
  readonly feed: string;
  readonly scope: 'Cluster' | 'Node' | 'Namespaces';
  /** Set for scope Node. */
  readonly node?: string;
  /** Set for scope Namespaces. */
  readonly namespaces?: readonly string[];
}

/** No list is empty, except in objects from before that was refused. */
export interface Rights {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** No action waits for it. */
export interface Waiver {
  readonly account: string;
  readonly stream: string;
  /** The stream with all its consumers when absent. */
  readonly consumer?: string;
}

export interface NatsClusterStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly selector?: string;
  readonly ready?: string;
  readonly version?: string;
  readonly metaLeader?: string;
  readonly servers?: readonly ServerStatus[];
  readonly streamsAtRisk?: readonly StreamAtRisk[];
  readonly plan?: { readonly next: string; readonly waitsFor?: string };
  readonly restarting?: Restarting;
  readonly leaving?: Leaving;
  readonly replacing?: Replacing;
  readonly conditions?: readonly ClusterCondition[];
}

export interface ServerStatus {
  readonly name: string;
  readonly version?: string;
  readonly role?: 'MetaLeader' | 'Follower';
  readonly ready?: boolean;
  readonly configDigest?: string;
  readonly upToDate?: boolean;
  /** Set for a new server that has not joined the others yet. */
  readonly startingSince?: string;
  readonly lastContact?: string;
}

export interface StreamAtRisk extends Waiver {
  readonly reason: string;
}

/** The one server that may be away at our wish: written before its pod is deleted. */
export interface Restarting {
  readonly server: string;
  readonly podUid: string;
  readonly reason: string;
  readonly since: string;
}

/** Written before the server is taken away, and forgotten after its claim is. */
export interface Leaving {
  readonly server: string;
  /** How the meta group knows it. */
  readonly peerId?: string;
  /** Absent when it has none. */
  readonly claim?: string;
  readonly claimUid?: string;
  readonly since: string;
}

/** Written before anything of a lost server is deleted. */
export interface Replacing {
  readonly server: string;
  readonly podUid: string;
  readonly claim: string;
  readonly claimUid: string;
  readonly reason: string;
  readonly since: string;
}

/** Ready, Progressing and Degraded. */
interface ClusterCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}
