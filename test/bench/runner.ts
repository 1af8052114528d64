// Runs one benchmark: pairs of both sides in the order A B B A, so that a machine that slows down
// or warms up harms both alike, and our side against itself as the control of the whole run.

export interface Sample {
  readonly [figure: string]: number;
}

export interface Side {
  readonly name: string;
  /** One measured run. */
  run(): Promise<Sample>;
  /**
   * The side whose every run also measures this one, on the same work: right after it, `run` tells
   * what it saw of this one.
   */
  readonly beside?: string;
}

export interface Figure {
  readonly name: string;
  readonly unit: string;
  /** Names of sides; the ratio is the median over the pairs of ours / against. */
  readonly ours: string;
  readonly against: string;
  /** Infinity for a figure that is only stated. */
  readonly limit: number;
  readonly better: 'higher' | 'lower';
  /** The value of the sample, when it is not called like the figure. */
  readonly sample?: string;
  /**
   * The value of our sample by which the run is checked against itself, when the figure's own is
   * a difference about zero, of which every run makes something else.
   */
  readonly control?: string;
}

export interface Bench {
  readonly id: string;
  readonly title: string;
  readonly pairs: number;
  /** The first is the benchmark's ratio, the others stand beside it. */
  readonly figures: readonly Figure[];
  open(): Promise<{ readonly sides: readonly Side[]; close(): Promise<void> }>;
}

type Samples = Readonly<Record<string, Sample>>;

/** One pair: each side's sample by its name, and a second run of each of ours for the control. */
export interface Pair {
  readonly samples: Samples;
  readonly again: Samples;
}

/** Fewer pairs let one disturbance decide the median. */
export const pairsMin = 5;

/** Each side that a figure calls ours runs twice in a pair: it is its own control. */
const oursIn = ({ figures }: Bench): readonly string[] => [
  ...new Set(figures.map(({ ours }) => ours)),
];

interface Turn {
  readonly name: string;
  readonly into: 'samples' | 'again';
}

/**
 * The order of the sides in a pair. Odd pairs turn the order round, and so do the two runs of the
 * control: ours, others, ours again; then ours again, others reversed, ours.
 */
export function orderOf(
  pair: number,
  sides: readonly string[],
  ours: readonly string[],
): readonly Turn[] {
  const others = sides.filter((name) => !ours.includes(name));
  const first = [...ours, ...others].map((name) => ({ name, into: 'samples' }) as const);
  const order = [...first, ...ours.map((name) => ({ name, into: 'again' }) as const)];
  return pair % 2 === 0 ? order : order.toReversed();
}

export async function runPairs(
  bench: Bench,
  sides: readonly Side[],
  pairs: number,
  onPair: (done: number) => void,
): Promise<Pair[]> {
  const ours = oursIn(bench);
  const byName = new Map(sides.map((side) => [side.name, side]));
  const run = async (name: string): Promise<Sample> => {
    const side = byName.get(name);
    if (side === undefined) throw new Error(`${bench.id} names a side ${name} that it has not.`);
    return side.run();
  };
  const alone = sides.filter(({ beside }) => beside === undefined);
  // The first run of each side pays for cold caches and code that is not compiled yet.
  for (const { name } of alone) await run(name);
  const measured: Pair[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const now: Record<Turn['into'], Record<string, Sample>> = { samples: {}, again: {} };
    const names = alone.map(({ name }) => name);
    for (const { name, into } of orderOf(pair, names, ours)) {
      now[into][name] = await run(name);
      if (into === 'again') continue;
      for (const side of sides.filter(({ beside }) => beside === name)) {
        now.samples[side.name] = await side.run();
      }
    }
    measured.push(now);
    onPair(pair + 1);
  }
  return measured;
}
