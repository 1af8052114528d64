// Stages that turn a running bare cluster into one that people work with, in this order.
// `--without-knative` leaves all of them out.
import { functionsStage } from './functions/stage.ts';
import { knativeStage } from './knative/stage.ts';
import type { Stage, StageTurn } from './stage.ts';
import type { Cluster } from './start-cluster.ts';

export const stages: readonly Stage[] = [knativeStage, functionsStage];

/**
 * All of them at once, each waiting for the one before where it has to. When one fails the others
 * are told to end; rejects with its failure when they have.
 */
export async function runStages(
  of: readonly Stage[],
  cluster: Cluster,
  turn: Omit<StageTurn, 'before'>,
): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([turn.signal, failed.signal]);
  const runs: Promise<void>[] = [];
  for (const stage of of) {
    const before = runs.at(-1) ?? Promise.resolve();
    const run = stage.run(cluster, { ...turn, signal, before });
    run.catch((error: unknown) => failed.abort(error));
    runs.push(run);
  }
  await Promise.allSettled(runs);
  failed.signal.throwIfAborted();
}
