// Takeover as the API server stores it: what an operator that is gone left behind, what is to
// become of it, and the plan for that. knative/crds/takeover.yaml is the source of truth; defaults
// are filled in by the API server.

export const TAKEOVERS = {
  group: 'ballast.dev',
  version: 'v1alpha1',
  resource: 'takeovers',
} as const;

/** Renewed by each sweep that finds Takeovers; it names those that could not be looked at. */
export const TAKEOVER_LEASE = 'ballast-takeover';

/** On what is made for a Takeover, with its name as the value. */
export const TAKEOVER_LABEL = 'ballast.dev/takeover';

/** On the NatsCluster that is made for a Takeover: the uid of that. */
export const TAKEOVER_UID_ANNOTATION = 'ballast.dev/takeover-uid';

/** The kind of the etcd operator, as its definition has it. */
export const LEGACY_ETCDS = {
  group: 'etcd.database.coreos.com',
  version: 'v1beta2',
  resource: 'etcdclusters',
} as const;

/** The kind of aenix's etcd operator, as its definition has it. */
export const AENIX_ETCDS = {
  group: 'etcd.aenix.io',
  version: 'v1alpha1',
  resource: 'etcdclusters',
} as const;

/** The kind of improbable's etcd operator, as its definition has it. */
export const IMPROBABLE_ETCDS = {
  group: 'etcd.improbable.io',
  version: 'v1alpha1',
  resource: 'etcdclusters',
} as const;

/** The kind of the NATS operator, as its definition has it. */
export const LEGACY_NATS = {
  group: 'nats.io',
  version: 'v1alpha2',
  resource: 'natsclusters',
} as const;

export interface LegacyReference {
  readonly apiVersion: string;
  /** A StatefulSet is that of a NATS of the chart `nats`. */
  readonly kind: 'EtcdCluster' | 'NatsCluster' | 'StatefulSet';
  readonly name: string;
  /** The Deployment of its operator, where that is in another namespace. */
  readonly operator?: { readonly namespace: string; readonly name: string };
}

export interface TakeoverSpec {
  readonly legacy: LegacyReference;
  /** Restore, Join or Wipe for an EtcdCluster, Route for a NATS. */
  readonly mode: 'Restore' | 'Join' | 'Wipe' | 'Route';
  readonly into: {
    readonly name: string;
    /** As of a cluster of ours of that kind, over what the legacy object says. */
    readonly spec?: Readonly<Record<string, unknown>>;
  };
  /** The name of the legacy object, of which a person says that its data is given up. */
  readonly wipe?: string;
  /** The id of the plan that is to be carried out. */
  readonly confirm?: string;
  /** Back to the legacy cluster, as long as there is a way. */
  readonly rollback?: boolean;
}

type Action = 'Make' | 'Adopt' | 'Change' | 'Delete' | 'Keep';

export interface PlannedObject {
  readonly action: Action;
  readonly kind: string;
  /** Absent for what is in no namespace, and for what is where the Takeover is. */
  readonly namespace?: string;
  readonly name: string;
  readonly why: string;
}

export interface PlannedStep {
  readonly name: string;
  /** A sentence. */
  readonly does: string;
  /** It is done only while this holds. */
  readonly precondition: string;
  /** From its beginning writers have to wait, or no longer have to. */
  readonly writers?: 'Stop' | 'GoOn';
  /** Once it is done, nothing leads back to the old cluster. */
  readonly noWayBack?: boolean;
}

interface Finding {
  readonly reason: string;
  readonly message: string;
}

export interface TakeoverPlan {
  /** Another one when anything changed that it is about; absent while something refuses it. */
  readonly id?: string;
  readonly next: string;
  readonly waitsFor?: string;
  readonly objects: readonly PlannedObject[];
  readonly steps: readonly PlannedStep[];
  /** Each says what to do before it can be carried out. */
  readonly refusals: readonly Finding[];
  /** Things to know of it. */
  readonly notes: readonly Finding[];
}

/** A pod of the legacy cluster, and the member or server in it as far as it answered. */
export interface LegacyMember {
  readonly pod: string;
  /** In hex, as etcdctl prints it. */
  readonly id?: string;
  readonly version?: string;
  readonly leads?: boolean;
  /** A NATS of that time has no data. */
  readonly storage?: 'Claim' | 'EmptyDir';
  readonly databaseBytes?: number;
  /** Why it did not answer. */
  readonly silent?: string;
}

/** A step that was begun, with what it rested on. */
export interface TakenStep {
  readonly name: string;
  readonly precondition: string;
  readonly startedAt: string;
  readonly doneAt?: string;
}

interface Named {
  readonly name: string;
  readonly uid: string;
}

/** The old server that leaves, with its clients: written before its pod is deleted. */
export interface MovingServer {
  readonly pod: string;
  readonly uid: string;
  /** Connections to all servers, of both clusters, just before. */
  readonly clients: number;
  /** Those of them to this one; some Takeovers that are at work were begun without it. */
  readonly own?: number;
  readonly since: string;
}

/** A member that joins, known by its address until it has started. */
export interface NewMember {
  readonly name: string;
  readonly peerUrl: string;
}

/** A member of a legacy etcd, whom others join. */
interface FormerMember extends NewMember {
  /** In hex. */
  readonly id: string;
}

/** All that no look could tell again of a plan that is carried out. */
export interface TakeoverWork {
  readonly plan: string;
  /** The hash of `spec.into` as it was confirmed. */
  readonly into: string;
  readonly legacyUid: string;
  /** The id of a legacy etcd, as its members tell it. */
  readonly clusterId?: string;
  /** Its selector as `a=b,c=d`. */
  readonly service: Named & { readonly selector: string };
  /** Those that belonged to the legacy object. */
  readonly claims: readonly Named[];
  readonly operators: readonly (Named & {
    readonly namespace: string;
    readonly replicas: number;
  })[];
  /** Counted from 1: what one makes is deleted before the next one. */
  readonly attempt: number;
  /** Pods of a legacy NATS. */
  readonly servers?: readonly Named[];
  /** The hash of the cluster that is to be made beside the old one, as it was confirmed. */
  readonly target?: string;
  /** Where members join: those of before, and those that are to join, in their order. */
  readonly oldMembers?: readonly FormerMember[];
  readonly newMembers?: readonly NewMember[];
  readonly moving?: MovingServer;
  /** The revision at which writers stopped; steady once a later look found the same. */
  readonly frozen?: {
    readonly revision: string;
    readonly seenAt: string;
    readonly isSteady: boolean;
  };
  /** The id of the new cluster, by which what belongs to it is known. */
  readonly newClusterId?: string;
  /** When the new EtcdCluster was there: claims of its name of that time are of its members. */
  readonly lived?: { readonly since: string; readonly until?: string };
  readonly compared?: {
    readonly keys: number;
    /** The last key that was compared, in base64. */
    readonly after: string;
    readonly isWhole: boolean;
  };
  /** All that was made is deleted for another attempt, whose reason this is. */
  readonly undoing?: string;
  readonly switchingAt?: string;
  /** The resourceVersion of the Service then: as long as it has that nobody was led over. */
  readonly serviceVersion?: string;
  readonly rollingBackAt?: string;
  readonly endedAt?: string;
}

export interface TakeoverStatus {
  readonly observedGeneration?: number;
  /** With Done and RolledBack nothing is done any more. */
  readonly phase?: 'Planned' | 'Running' | 'RollingBack' | 'RolledBack' | 'Done';
  readonly steps?: readonly TakenStep[];
  readonly work?: TakeoverWork;
  readonly plan?: TakeoverPlan;
  readonly members?: readonly LegacyMember[];
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: 'True' | 'False' | 'Unknown';
    readonly reason: string;
    readonly message: string;
  }[];
}
