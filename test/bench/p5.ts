// P5: how long a change takes from its writer to a reader's handler, through the feed and by a
// direct watch of the API server. Both see the same changes in the same run, and the clock starts
// for both when the writer begins its request. A change is seen with its version or a later one of
// the same pod, whichever comes first: the feed shows changes together that follow each other
// closely, and the earlier one is then as late as the one that shows it.
import { Child } from './feed/child.ts';
import { seenAt } from './feed/coverage.ts';
import { churn, type WriterChild } from './feed/churn.ts';
import { Crew } from './feed/crew.ts';
import { percentile } from './feed/line.ts';
import { FeedSystem } from './feed/system.ts';
import type { Bench, Figure, Sample } from './runner.ts';

const OURS = 'replica';
const PEER = 'direct watch';
const PODS = 200;
const RATES = [50, 200] as const;
const SECONDS = 6;
/** The last answer comes a little after the last request. */
const LATE_MAX = 1.1;
/** A reader may be later than the watch by this much, whatever their ratio. */
const P50_MORE_MS = 3;
const P99_MORE_MS = 10;

/** The median tells whether the machine was quiet; of the slowest hundredth no two runs agree. */
const figures = RATES.flatMap((rate): readonly Figure[] => {
  const both = { ours: OURS, against: PEER, better: 'lower', control: `p50, ${rate}/s` } as const;
  const row = (name: string, limit: number): Figure => ({ name, unit: 'ms', limit, ...both });
  return [
    row(`p99, ${rate}/s`, 2),
    row(`p99 against the watch's and ${P99_MORE_MS} ms, ${rate}/s`, 1),
    row(`p50 against the watch's and ${P50_MORE_MS} ms, ${rate}/s`, 1),
    row(`p50, ${rate}/s`, Infinity),
  ];
});

export const bench: Bench = {
  id: 'P5',
  title: 'from the write of a change to the handler of a reader',
  pairs: 5,
  figures,
  open: () =>
    FeedSystem.prepare(async (system) => {
      await system.fill(PODS, PODS);
      const writer: WriterChild = await Child.start('writer.ts', system.plane.kubeconfigPath);
      const readers = await Crew.readers(system, { isTimed: true });
      const watchers = await Crew.watchers(system, { isTimed: true });
      await Promise.all([readers, watchers].map((crew) => crew.open(['*'])));
      let beside: Sample = {};
      const run = async (): Promise<Sample> => {
        const [ours, peer] = await measure(writer, [readers, watchers]);
        beside = peer ?? {};
        return ours ?? {};
      };
      return {
        sides: [
          { name: OURS, run },
          { name: PEER, beside: OURS, run: async () => beside },
        ],
        close: async () => {
          await Promise.all([writer, readers, watchers].map((one) => one.end()));
          await system.stop();
        },
      };
    }),
};

/** Ours first; what it is held against carries its allowance. */
async function measure(writer: WriterChild, crews: readonly Crew[]): Promise<readonly Sample[]> {
  const samples: Record<string, number>[] = crews.map(() => ({}));
  for (const perSecond of RATES) {
    const changes = perSecond * SECONDS;
    const witnesses = crews.map((crew) => ({ crew, sightings: 'each' as const }));
    const order = { pods: PODS, changes, perSecond };
    const { written, seen } = await churn(writer, order, witnesses);
    // Changes that queue before the API server are late for both, and say nothing about either.
    const isInPace = written.seconds < SECONDS * LATE_MAX;
    for (const [index, { times }] of seen.entries()) {
      const turns = { firstTurn: written.firstTurn, changes, pods: PODS };
      const delays = isInPace ? delaysOf(seenAt(times, turns), written.startedMs) : [];
      const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)];
      const more = (ms: number): number => (index === 0 ? 0 : ms);
      Object.assign(samples[index] ?? {}, {
        [`p50, ${perSecond}/s`]: p50,
        [`p99, ${perSecond}/s`]: p99,
        [`p50 against the watch's and ${P50_MORE_MS} ms, ${perSecond}/s`]: p50 + more(P50_MORE_MS),
        [`p99 against the watch's and ${P99_MORE_MS} ms, ${perSecond}/s`]: p99 + more(P99_MORE_MS),
      });
    }
  }
  return samples;
}

const delaysOf = (seenMs: Float64Array, startedMs: Float64Array): number[] =>
  Array.from(seenMs, (atMs, index) => atMs - (startedMs[index] ?? Number.NaN));
