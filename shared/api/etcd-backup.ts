// EtcdBackup as the API server stores it: one backup of an etcd, and what came of it.
// knative/crds/etcd-backup.yaml is the source of truth; defaults are filled in by the API server.
import type { Amounts } from './servers.ts';

export const ETCD_BACKUPS = {
  group: 'ballast.dev',
  version: 'v1alpha1',
  resource: 'etcdbackups',
} as const;

/** Renewed by each sweep; it names the backups that could not be reconciled. */
export const ETCD_BACKUP_LEASE = 'ballast-etcd-backup';

/** On the Job and the pods of a backup, with its name as the value. */
export const ETCD_BACKUP_LABEL = 'ballast.dev/etcd-backup';

/** Immutable: a backup is taken once. */
export interface EtcdBackupSpec {
  readonly source: BackupSource;
  readonly target: BackupTarget;
  /** For S3, and for what is encrypted. */
  readonly spool?: BackupSpool;
  /** Read back from its target and restored before it counts; not when absent. */
  readonly rehearsal?: RehearsalSpec;
  /** A member is asked for its hash of all keys up to this size; absent before it was a field. */
  readonly confirmUpTo?: string;
  readonly deadlineSeconds: number;
  readonly resources: { readonly requests?: Amounts; readonly limits?: Amounts };
  /** It is stored as etcd sends it when absent. */
  readonly encryption?: BackupEncryption;
  /** Set by an EtcdBackupSchedule on what it makes. */
  readonly scheduled?: ScheduledRun;
}

export interface RehearsalSpec {
  /** The etcd whose etcdutl restores it; that of the EtcdCluster when absent. */
  readonly image?: string;
  /** Where it is restored; as large as the quota of the EtcdCluster asks for when absent. */
  readonly disk?: BackupSpool;
}

/** The run of a schedule that an EtcdBackup is, and whose it is. */
export interface ScheduledRun {
  readonly schedule: string;
  readonly uid: string;
  /** The minute that it was due in. */
  readonly at: string;
}

/** An EtcdCluster, or endpoints. */
export interface BackupSource {
  readonly etcdCluster?: { readonly name: string };
  readonly endpoints?: readonly string[];
  readonly tls?: BackupTls;
  readonly login?: { readonly user: string; readonly passwordSecret: SecretKey };
}

export interface BackupTls {
  readonly secretName: string;
  /** `tls.crt`, `tls.key` and `ca.crt` when absent. */
  readonly keys?: {
    readonly certificate: string;
    readonly key: string;
    readonly authority: string;
  };
}

export interface SecretKey {
  readonly name: string;
  readonly key: string;
}

/** Where the key is with which a backup is sealed. */
export interface BackupEncryption {
  readonly secretName: string;
  /** The entry of the Secret. */
  readonly key: string;
}

/** One of both. */
export interface BackupTarget {
  readonly s3?: S3Object;
  readonly claim?: { readonly name: string; readonly path?: string };
}

export interface S3Object {
  readonly bucket: string;
  readonly key?: string;
  readonly endpoint?: string;
  readonly region?: string;
  readonly style?: 'Path' | 'Host';
  readonly credentials: S3Credentials;
  readonly certificateAuthority?: SecretKey & { readonly kind: 'ConfigMap' | 'Secret' };
  readonly serverSideEncryption?: string;
}

/** One of the two. */
export interface S3Credentials {
  readonly secretName?: string;
  /** By its identity the pod gets keys. */
  readonly serviceAccountName?: string;
}

export interface BackupSpool {
  readonly medium: 'Node' | 'Volume';
  readonly size: string;
  readonly storageClassName?: string;
}

export interface EtcdBackupStatus {
  readonly observedGeneration?: number;
  /** With Complete and Failed nothing is done any more. */
  readonly phase?: 'Pending' | 'Running' | 'Complete' | 'Failed';
  readonly location?: string;
  readonly job?: { readonly name: string; readonly uid: string };
  readonly startedAt?: string;
  readonly completedAt?: string;
  /** With a rehearsal from when it is stored on, also when that fails. */
  readonly backup?: BackupFacts;
  readonly rehearsal?: Rehearsal;
  readonly error?: BackupError;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: 'True' | 'False' | 'Unknown';
    readonly reason: string;
    readonly message: string;
  }[];
}

/** In the small file beside the backup: by it facts are known. */
export const FACTS_KIND = 'etcd-backup/v1';

/** The same as in the small file beside the backup. */
export interface BackupFacts {
  /** When the member began to send it. */
  readonly takenAt: string;
  /** As the next one, of the bytes that are stored: of a sealed backup the sealed ones. */
  readonly sizeBytes: number;
  /** Covers the whole file, as `sha256sum` tells it. */
  readonly sha256: string;
  /** A text, because a restore may bump it beyond what a number of JSON holds. */
  readonly revision: string;
  readonly compactRevision: string;
  /** Keys that are not deleted. */
  readonly keys: number;
  /** As etcd reckons it, from the file. */
  readonly hashKv: number;
  /** Whether a member told the same hash for the same revision and compaction. */
  readonly isHashConfirmed: boolean;
  /** Why no member did. */
  readonly unconfirmed?: string;
  readonly etcdVersion: string;
  readonly clusterId: string;
  readonly memberId: string;
  /** Alarms of the cluster at that time. */
  readonly alarms?: readonly string[];
  /** Absent where it is stored as etcd sent it. */
  readonly encryption?: FactsOfEncryption;
}

export interface FactsOfEncryption {
  readonly format: string;
  /** The key is known by it. */
  readonly keyId: string;
  /** As the next one, of the bytes that etcd sent. */
  readonly plainSizeBytes: number;
  readonly plainSha256: string;
}

/** A backup was restored, and this was found. */
export interface Rehearsal {
  readonly rehearsedAt: string;
  readonly durationSeconds: number;
  readonly keys: number;
  readonly revision: string;
  readonly hashKv: number;
  /** For the store of an API server. */
  readonly storedVersions?: StoredVersions;
  /** Objects that no API server can read; absent where there are none. */
  readonly unreadable?: Unreadable;
}

export interface Unreadable {
  readonly objects: number;
  /** The first of them, and what each is. */
  readonly such: string;
}

/** How many objects are stored in which version. */
export interface StoredVersions {
  readonly objects: number;
  /** Different resources and versions. */
  readonly total: number;
  /** Resources that are stored in several versions first, then those of which there are most. */
  readonly most: readonly StoredVersion[];
}

export interface StoredVersion {
  /** As `deployments.apps`. */
  readonly resource: string;
  /** As `apps/v1`; `encrypted` where the version is inside. */
  readonly version: string;
  readonly objects: number;
}

/** Facts lie beside their backup under this name. */
export const factsNameOf = (name: string): string => `${name}.json`;

export interface BackupError {
  readonly code: string;
  readonly message: string;
}
