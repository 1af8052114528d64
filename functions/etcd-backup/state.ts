// The observed state of a backup, on which the next step is decided: the object, the etcd that it
// is of, and its Job with its pods as they are now. Types. Pure.
import type { BackupTls, SecretKey } from '../../shared/api/etcd-backup.ts';
import type { FoundJob, FoundPod } from '../../shared/jobs/job.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { EtcdBackup } from './object.ts';

/** How the etcd is reached; Secrets by their names, whose content nobody here reads. */
export interface Source {
  readonly endpoints: readonly string[];
  readonly tls?: BackupTls;
  readonly login?: { readonly user: string; readonly passwordSecret: SecretKey };
  /** As the EtcdCluster has it; undefined for endpoints. */
  readonly etcd?: { readonly image: string; readonly quota: string };
}

export interface State {
  readonly backup: EtcdBackup;
  readonly nowMs: number;
  /** Read as long as there is no Job. */
  readonly source: Source | Reason | undefined;
  readonly job: FoundJob | undefined;
  readonly pods: readonly FoundPod[];
}
