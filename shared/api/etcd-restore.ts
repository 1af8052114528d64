// EtcdRestore as the API server stores it: a new EtcdCluster out of a backup, and what came of it.
// knative/crds/etcd-restore.yaml is the source of truth; defaults are filled in by the API server.
import type { BackupEncryption, BackupError, BackupFacts, S3Object } from './etcd-backup.ts';
import type { Amounts } from './servers.ts';

export const ETCD_RESTORES = {
  group: 'ballast.dev',
  version: 'v1alpha1',
  resource: 'etcdrestores',
} as const;

/** Renewed by each sweep; it names the restores that could not be reconciled. */
export const ETCD_RESTORE_LEASE = 'ballast-etcd-restore';

/** On the Job, the pods, the claim and the EtcdCluster of a restore, with its name as the value. */
export const ETCD_RESTORE_LABEL = 'ballast.dev/etcd-restore';

/** Immutable: a restore is done once. */
export interface EtcdRestoreSpec {
  readonly source: RestoreSource;
  readonly etcdCluster: {
    readonly name: string;
    /** As of an EtcdCluster, which the API server holds it to when one is made of it. */
    readonly spec?: Readonly<Record<string, unknown>>;
  };
  /** Everything is tried on a volume that goes with the pod, and nothing is made. */
  readonly dryRun: boolean;
  readonly deadlineSeconds: number;
  readonly resources: { readonly requests?: Amounts; readonly limits?: Amounts };
}

/** One of the first three. */
export interface RestoreSource {
  readonly etcdBackup?: { readonly name: string };
  readonly s3?: RestoreS3;
  readonly claim?: { readonly name: string; readonly path: string };
  /** That of the EtcdBackup when absent. */
  readonly encryption?: BackupEncryption;
}

export interface RestoreS3 extends Omit<S3Object, 'serverSideEncryption'> {
  readonly key: string;
}

interface Found {
  readonly name: string;
  readonly uid: string;
}

export interface EtcdRestoreStatus {
  readonly observedGeneration?: number;
  /** With Complete and Failed nothing is done any more. */
  readonly phase?: 'Pending' | 'Running' | 'Starting' | 'Complete' | 'Failed';
  readonly location?: string;
  /** The etcd that restores it, and runs on it. */
  readonly image?: string;
  /** The id of the new cluster. */
  readonly clusterId?: string;
  /** The claim of the first member, as it was made. */
  readonly claim?: Found;
  readonly job?: Found;
  readonly etcdCluster?: Found;
  /** From which the new etcd counts on. */
  readonly revision?: string;
  readonly startedAt?: string;
  readonly completedAt?: string;
  readonly backup?: BackupFacts;
  readonly error?: BackupError;
  /** Why it has failed, from before the first of what it made is taken back. */
  readonly failure?: { readonly reason: string; readonly message: string };
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: 'True' | 'False' | 'Unknown';
    readonly reason: string;
    readonly message: string;
  }[];
}
