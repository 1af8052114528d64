// One part of the setup of a cluster that is up, as `stages.ts` runs them.
import type { Cluster } from './start-cluster.ts';

export interface StageTurn {
  readonly onReady: (readyName: string) => void;
  readonly signal: AbortSignal;
  /** Resolves when the stages before this one are ready: until then it may prepare. */
  readonly before: Promise<void>;
}

export interface Stage {
  readonly name: string;
  /** Resolves when it is ready; tells on the way what has become so. */
  run(cluster: Cluster, turn: StageTurn): Promise<void>;
}
