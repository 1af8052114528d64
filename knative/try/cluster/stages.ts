// Runs stages, which turn a running bare cluster into one that people work with.
import type { Stage, StageTurn } from './stage.ts';
import type { Cluster } from './start-cluster.ts';

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
