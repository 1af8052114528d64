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
  /** The content of its database, and how large that is. */
  keysBytes: number;
  historyBytes: number;
  /** Forgotten, and counted until its database is copied: nobody writes to a full one. */
  countedBytes: number;
  sizeBytes: number;
  isCorrupt: boolean;
  /** Its member ends at each start. */
  isUnfit: boolean;
  /** Ticks until its database is copied: until then it answers no read. */
  copying: number;
}

export interface AlarmModel {
  readonly memberId: string;
  readonly type: 'NOSPACE' | 'CORRUPT';
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
  readonly revision?: string;
}
