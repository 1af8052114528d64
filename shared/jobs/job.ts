// A Job of a function as it was found, with its pods: what it is told by, and how both have ended.
// Types. Pure.
import type { Reason } from '../kube/conditions.ts';

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
  /** How its first container that failed has ended, or else its last one; undefined before. */
  readonly ended: PodEnd | undefined;
  /** All containers that have ended, in the order in which they run. */
  readonly ends: readonly PodEnd[];
}

export interface PodEnd {
  readonly container: string;
  readonly exitCode: number;
  /** In a word of the kubelet, such as OOMKilled. */
  readonly reason: string;
  /** Its last words, or those of somebody who may write pods. */
  readonly message: string;
  readonly at: string;
}
