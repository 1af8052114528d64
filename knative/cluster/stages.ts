// What is put onto a cluster that is up, in this order: the seam for whatever turns a bare cluster
// into one that people work with. `--without-knative` leaves all of it out.
import { functionsStage } from './functions/stage.ts';
import { knativeStage } from './knative/stage.ts';
import type { Cluster } from './start-cluster.ts';

export interface Stage {
  readonly name: string;
  /** Resolves when it is ready; tells on the way what has become so. */
  run(cluster: Cluster, onReady: (what: string) => void, signal: AbortSignal): Promise<void>;
}

export const stages: readonly Stage[] = [knativeStage, functionsStage];
