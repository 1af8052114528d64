// The observed state of a backup, on which the next step is decided: the object, the etcd that it
// is of, and its Job with its pods as they are now. Types. Pure.
import type { SecretKey } from '../../shared/api/etcd-backup.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { EtcdBackup } from './object.ts';

/** How the etcd is reached; Secrets by their names, whose content nobody here reads. */
export interface Source {
  readonly endpoints: readonly string[];
  /** Has tls.crt, tls.key and ca.crt. */
  readonly tlsSecret?: string;
  readonly login?: { readonly user: string; readonly passwordSecret: SecretKey };
}

export interface FoundJob {
  readonly name: string;
  readonly uid: string;
  readonly isOurs: boolean;
  readonly isEnding: boolean;
  readonly startedAt: string | undefined;
  /** Undefined while it goes on. */
  readonly end: JobEnd | undefined;
  /** Why it has no pod, as far as an Event says. */
  readonly trouble: Reason | undefined;
}

export interface JobEnd extends Reason {
  readonly isComplete: boolean;
  readonly at: string | undefined;
}

/** A pod whose controller is the Job, by its uid. */
export interface FoundPod {
  readonly name: string;
  readonly phase: string;
  /** Why it does not run, as far as the scheduler or the kubelet says. */
  readonly trouble: Reason | undefined;
  /** How its container ended; undefined before it has. */
  readonly ended: PodEnd | undefined;
}

export interface PodEnd {
  readonly exitCode: number;
  /** In a word of the kubelet, such as OOMKilled. */
  readonly reason: string;
  /** Its last words, or those of somebody who may write pods. */
  readonly message: string;
  readonly at: string;
}

export interface State {
  readonly backup: EtcdBackup;
  readonly nowMs: number;
  /** Read as long as there is no Job. */
  readonly source: Source | Reason | undefined;
  readonly job: FoundJob | undefined;
  readonly pods: readonly FoundPod[];
}
