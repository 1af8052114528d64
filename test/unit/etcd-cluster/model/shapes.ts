// The shapes of what the model of an etcd remembers.

export interface MemberModel {
  readonly id: string;
  readonly peerUrl: string;
  name: string;
  isLearner: boolean;
}

/** The content of a volume. */
export interface DataModel {
  readonly memberId: string;
  readonly clusterId: string;
  /** Ticks until it has everything. */
  behind: number;
  /** It was forced to go on alone, and no client has reached it since. */
  isAlone: boolean;
}

export interface ProcessModel {
  readonly memberId: string;
  readonly clusterId: string;
  readonly claimUid: string;
  readonly version: string;
  /** It listens to no client. */
  readonly isForced: boolean;
}

export interface RecordModel {
  readonly claimUid?: string;
  readonly podUid?: string;
  readonly memberId?: string;
}

export interface Bootstrap {
  readonly state: 'New' | 'Existing';
  readonly initialCluster: readonly { readonly name: string; readonly url: string }[];
}
