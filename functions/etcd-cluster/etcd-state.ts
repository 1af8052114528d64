// The state of an etcd as its members told it, and questions about it. Pure.

import type { DefragmentingMember } from '../../shared/api/etcd-cluster.ts';
import type { AuthSeen } from './auth/state.ts';

/** A member in the list that a quorum confirmed. */
export interface Member {
  /** In decimal, as etcd's gateway has it. */
  readonly id: string;
  /** Empty as long as it has not started. */
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly isLearner: boolean;
}

/** The answer of one member about itself. */
export interface MemberAnswer {
  readonly memberId: string;
  readonly clusterId: string;
  readonly version: string;
  /** Undefined when it knows none. */
  readonly leaderId: string | undefined;
  readonly isLearner: boolean;
  readonly databaseBytes: number;
  readonly databaseBytesInUse: number;
  /** From 3.6 on. */
  readonly quotaBytes: number | undefined;
  readonly raftIndex: number;
  readonly raftAppliedIndex: number;
  /** How its files are written; from 3.6 on, and 3.5 says none. */
  readonly storageVersion: string | undefined;
  /** The minor version to which etcd was told to go down. */
  readonly downgradeTo: string | undefined;
  /** That of the newest change of a key that it has. */
  readonly revision: string;
}

export interface Alarm {
  readonly memberId: string;
  /** OTHER: one that this etcd knows and we do not. */
  readonly type: 'NOSPACE' | 'CORRUPT' | 'OTHER';
}

/** The list of members, and to which cluster it belongs. */
export interface MemberList {
  readonly clusterId: string;
  readonly members: readonly Member[];
}

/** How one member alone sees the cluster. */
export interface View extends MemberList {
  /** The version that all members have agreed to speak; undefined when it knows none. */
  readonly clusterVersion: string | undefined;
}

export interface EtcdState {
  /** Undefined while no quorum confirms it. */
  readonly list: MemberList | undefined;
  /** By the name of the peer that was asked. */
  readonly answers: ReadonlyMap<string, MemberAnswer>;
  readonly alarms: readonly Alarm[];
  /** Why a peer that runs gave no answer that can be used. */
  readonly silent: ReadonlyMap<string, string>;
  /**
   * By the name of the peer. Asked for while no quorum confirms the list, or another minor version
   * is wanted, and else empty.
   */
  readonly views: ReadonlyMap<string, View>;
  /** Answers that are asked for while an alarm or a defragmentation makes it worth its price. */
  readonly upkeep?: Upkeep;
  /** Undefined where nobody asked, or no quorum told. */
  readonly auth?: AuthSeen;
  /** Why it is not told. */
  readonly authSilence?: string;
  /** Members want a login, and have not got the right one. */
  readonly refused?: 'LOGIN_FAILED' | 'NO_LOGIN';
}

export interface Upkeep {
  /** The peer whose database is being copied: it answers no read. */
  readonly busy?: string;
  /** The member that the status records is done, whether or not its database is smaller. */
  readonly isDefragmented?: boolean;
  readonly hashes?: Hashes;
  /** Whether the recorded compaction has been done. */
  readonly isCompacted?: boolean;
  /** Which keys take the space, for people. */
  readonly largest?: string;
}

/** Hashes of all keys, by each peer that told one, up to the same revision. */
export interface Hashes {
  readonly revision: string;
  readonly told: ReadonlyMap<string, Hash>;
  /** Why a peer told none. */
  readonly missing: ReadonlyMap<string, string>;
}

export interface Hash {
  readonly hash: number;
  /** Hashes of another one are not comparable. */
  readonly compactRevision: string;
}

/** Kept of a cluster in trouble. All of it may be lost. */
export interface UpkeepMemory {
  hashes?: { readonly atMs: number; readonly value: Hashes };
  largest?: { readonly atMs: number; readonly value: string };
  /** How often the member that is recorded there was asked to copy its database. */
  copy?: { readonly of: DefragmentingMember; readonly asked: number; readonly isTold: boolean };
}

export const NO_ANSWERS: EtcdState = {
  list: undefined,
  answers: new Map(),
  alarms: [],
  silent: new Map(),
  views: new Map(),
};
