// The observed state of a restore, on which the next step is decided: where the backup is, what is
// there of the new EtcdCluster, and its Job with its pods as they are now. Types. Pure.
import type { BackupEncryption } from '../../shared/api/etcd-backup.ts';
import type { EtcdClusterSpec } from '../../shared/api/etcd-cluster.ts';
import type { RestoreS3, EtcdRestoreStatus } from '../../shared/api/etcd-restore.ts';
import type { FoundJob, FoundPod } from '../../shared/jobs/job.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { EtcdRestore } from './object.ts';

/** The backup that is to be restored. */
export interface Backup {
  /** As its program is told it. */
  readonly from: string;
  /** As people are told it. */
  readonly location: string;
  readonly s3?: Omit<RestoreS3, 'key'>;
  readonly claimName?: string;
  /** Where its key is, when it is sealed. */
  readonly encryption?: BackupEncryption;
  /** As its EtcdBackup says. */
  readonly sha256?: string;
}

/** A reason why it cannot go on now, or never will. */
export interface Lack extends Reason {
  readonly isFinal: boolean;
}

export interface FoundClaim {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** It was made by this restore, and nobody else has it yet. */
  readonly isOurs: boolean;
  readonly isEnding: boolean;
  /** As it is marked. */
  readonly clusterId: string | undefined;
}

export interface FoundCluster {
  readonly uid: string;
  /** The id of the cluster with whose data it is to start; undefined for one of somebody else. */
  readonly restores: string | undefined;
  readonly isEnding: boolean;
  /** Its own word for how it is. */
  readonly clusterId: string | undefined;
  readonly ready: (Reason & { readonly isTrue: boolean }) | undefined;
  readonly trouble: Reason | undefined;
}

export interface State {
  readonly restore: EtcdRestore;
  readonly nowMs: number;
  /** Read as long as there is no Job. */
  readonly backup: Backup | Lack | undefined;
  /** The EtcdCluster as the API server would store it; read as long as there is none. */
  readonly target: EtcdClusterSpec | Lack | undefined;
  /** Objects with names of the new cluster that are not ours; looked for as long. */
  readonly taken: readonly string[];
  readonly claim: FoundClaim | undefined;
  readonly job: FoundJob | undefined;
  readonly pods: readonly FoundPod[];
  readonly cluster: FoundCluster | undefined;
}

/** The part of the status that no observation could tell again. */
export type Records = Pick<
  EtcdRestoreStatus,
  'location' | 'image' | 'clusterId' | 'claim' | 'etcdCluster' | 'revision' | 'backup' | 'failure'
>;

export function recordsOf({ restore: { status } }: Pick<State, 'restore'>): Records {
  const { location, image, clusterId, claim, etcdCluster, revision, backup, failure } = status;
  const all = { location, image, clusterId, claim, etcdCluster, revision, backup, failure };
  const known = Object.entries(all).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known);
}

/** The claim of the first member has the restored data, and is that of a member from now on. */
export const isHandedOver = ({ restore, claim }: Pick<State, 'restore' | 'claim'>): boolean =>
  claim?.clusterId !== undefined && claim.clusterId === restore.status.clusterId;
