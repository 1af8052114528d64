// Runs many seeds, on one rig or on several at once, and prints a line for each and the figures of
// all of them.
import { UsageError } from '../../shared/arguments.ts';
import { systemClock } from '../../shared/clock.ts';
import { FAULTS } from './faults.ts';
import { Figures } from './figures.ts';
import type { Options } from './options.ts';
import { openScene } from './scene.ts';
import { runSeed } from './seed.ts';

/** Rigs side by side share the seeds between them. */
export async function runSeeds({ first, count, minutes, rigs, without }: Options): Promise<number> {
  refuseUnknown(without);
  const figures = new Figures(without);
  const endsAtMs = systemClock.nowMs() + minutes * 60_000;
  const seeds = Iterator.from(seedsFrom(first, count));
  const isOver = new AbortController();
  const end = (): void => isOver.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  const work = async (): Promise<void> => {
    const rig = await openScene();
    try {
      for (const seed of seeds) {
        if (isOver.signal.aborted || systemClock.nowMs() > endsAtMs) return;
        const result = await runSeed(rig, String(seed), without);
        figures.add(result);
        process.stdout.write(figures.line(result));
      }
    } finally {
      figures.addRelay(rig.relay);
      await rig.stop();
    }
  };
  try {
    await Promise.all(Array.from({ length: rigs }, work));
  } finally {
    process.stdout.write(figures.page());
  }
  return figures.isClean ? 0 : 1;
}

function* seedsFrom(first: number, count: number): Generator<number> {
  for (let seed = first; seed < first + count; seed += 1) yield seed;
}

function refuseUnknown(kinds: readonly string[]): void {
  const wrong = kinds.find((name) => !FAULTS.some(({ kind }) => kind === name));
  if (wrong === undefined) return;
  const known = FAULTS.map(({ kind }) => kind).join(', ');
  throw new UsageError(`--without ${wrong}: there is no such fault, only ${known}`);
}
