// StorageMigration as the API server stores it: which kind is written anew, how carefully, and how
// far that is. knative/crds/storage-migration.yaml is the source of truth; defaults are filled in
// by the API server.

export const STORAGE_MIGRATIONS = {
  group: 'ballast.dev',
  version: 'v1alpha1',
  resource: 'storagemigrations',
} as const;

/** Renewed by each sweep; it names the migrations at which the look failed. */
export const STORAGE_MIGRATION_LEASE = 'ballast-storage-migration';

/** On a CRD, with the value `true`: it asks for a StorageMigration whenever it needs one. */
export const MIGRATE_ANNOTATION = 'ballast.dev/migrate-storage';

/** The first writer: this function, or another migrator, whose result this function then proves. */
export type Mode = 'Ballast' | OtherMode;
export type OtherMode = 'InTree' | 'Community';

/** Where the other migrators take their orders: a StorageVersionMigration of this group. */
export const ORDER_GROUPS: Readonly<Record<OtherMode, string>> = {
  InTree: 'storagemigration.k8s.io',
  Community: 'migration.k8s.io',
};
export const ORDERS = 'storageversionmigrations';

export interface StorageMigrationSpec {
  readonly resource: { readonly group: string; readonly resource: string };
  readonly mode: Mode;
  readonly budget: { readonly requestsPerSecond?: number; readonly concurrency: number };
  readonly trim: 'OnProof' | 'Never';
  readonly pause: boolean;
  readonly dryRun: boolean;
  readonly retries: number;
  readonly acceptedLoss?: readonly string[];
  readonly verify: readonly Verification[];
  readonly cleanManagedFields: boolean;
}

/** The oracle that has to agree that nothing is stored in another version. */
export type Verification = 'SecondPass' | 'Etcd';

export type Phase =
  | 'Pending'
  | 'Preflight'
  | 'Settling'
  | 'Cleaning'
  | 'Delegating'
  | 'Rewriting'
  | 'Verifying'
  | 'Confirming'
  | 'Trimming'
  | 'Done'
  | 'Blocked';

export interface StorageMigrationStatus {
  readonly observedGeneration?: number;
  readonly phase?: Phase;
  /** Where it goes on once nothing blocks it any more. */
  readonly blockedIn?: Phase;
  readonly target?: MigrationTarget;
  /** Every version that the CRD was ever seen to list; none may leave the list before the proof. */
  readonly storedVersions?: readonly string[];
  readonly settledAt?: string;
  /** Writes that began under another version may take until then; the proof waits for it. */
  readonly writesEndAt?: string;
  readonly delegate?: Delegate;
  /** Begins at 1; each looks at all objects. */
  readonly pass?: number;
  readonly passStartedAt?: string;
  readonly cursor?: Cursor;
  readonly progress?: Progress;
  readonly rewritten?: number;
  /** Objects that lost entries of versions which are not served. */
  readonly cleaned?: number;
  readonly failed?: readonly FailedObject[];
  readonly retriesLeft?: number;
  /** How often etcd showed other versions after a pass that changed nothing. */
  readonly etcdDisagreed?: number;
  readonly worker?: { readonly id: string; readonly until: string };
  readonly proof?: Proof;
  readonly trimmed?: readonly string[];
  /** Put back after somebody else had taken them off without proof. */
  readonly restored?: readonly string[];
  readonly conditions?: readonly MigrationCondition[];
}

/** The target when the migration began; a change of any field begins anew. */
export interface MigrationTarget {
  readonly version: string;
  readonly kind: string;
  readonly dryRun: boolean;
  /** Absent when nobody else rewrites. */
  readonly mode?: OtherMode;
  /** Absent when managedFields are left alone. */
  readonly cleansManagedFields?: boolean;
  /** Versions that the CRD has served since managedFields were cleaned. */
  readonly servedVersions?: readonly string[];
  readonly crdUid?: string;
  readonly crdGeneration?: number;
  /** The list as it was when the last verification began. */
  readonly crdResourceVersion?: string;
}

/** The StorageVersionMigration of another migrator. */
export interface Delegate {
  readonly apiVersion: string;
  readonly name: string;
  readonly uid: string;
  /** Absent while it is not over. */
  readonly result?: 'Succeeded' | 'Failed' | 'Gone';
  /** The message of its last condition. */
  readonly message?: string;
}

export interface Cursor {
  /** `namespace/name`, for people. */
  readonly after: string;
  readonly continue: string;
  readonly resourceVersion: string;
}

/** Counts of one pass. */
export interface Progress {
  readonly total: number;
  readonly done: number;
  readonly changed: number;
  readonly current: number;
  readonly conflicts: number;
  readonly gone: number;
  readonly failed: number;
  readonly perSecond?: number;
  readonly left?: string;
}

export interface FailedObject {
  readonly namespace?: string;
  readonly name: string;
  readonly reason: string;
  readonly message: string;
}

export interface Proof {
  readonly oracle: 'SecondPass' | 'SecondPassAndEtcd';
  readonly version: string;
  readonly objects: number;
  readonly resourceVersion: string;
  readonly crdGeneration?: number;
  /**
   * Set by the second oracle: the revision at which etcd was read, and the number of values there.
   */
  readonly etcdRevision?: string;
  readonly etcdValues?: number;
  readonly at: string;
}

/** Proved, Progressing and Blocked. */
interface MigrationCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}
