// `npm run chaos:feed -- --seeds N`: breaks a feed on real parts in N ways that come from N seeds,
// and says whether every reader was right in the end. Ends with 1 when one was not, with 2 when it
// was asked wrongly.
import { readArguments, refuseWords, UsageError } from '../../shared/arguments.ts';
import { systemClock } from '../../shared/clock.ts';
import { whole } from '../whole.ts';
import { FAULTS } from './faults.ts';
import { Figures } from './figures.ts';
import { openScene } from './scene.ts';
import { runSeed } from './seed.ts';

const usage = `npm run chaos:feed -- --seeds N       runs the seeds 1 to N
npm run chaos:feed -- --seed S        runs this one; with --seeds N, N from this one on
npm run chaos:feed -- --without KIND  leaves out faults of this kind; may be given again
npm run chaos:feed -- --minutes M     begins no seed after so many minutes
npm run chaos:feed -- --rigs R        on so many control planes at once, 700 MB each
npm run chaos:feed -- --help          prints this
`;

interface Options {
  readonly first: number;
  readonly count: number;
  readonly minutes: number;
  readonly rigs: number;
  readonly without: readonly string[];
}

/** Undefined when help was asked for. */
function readOptions(args: readonly string[]): Options | undefined {
  const options = {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    minutes: { type: 'string' },
    rigs: { type: 'string' },
    without: { type: 'string', multiple: true },
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    const { values, positionals } = readArguments(args, options);
    if (values.help === true) return undefined;
    refuseWords(positionals);
    const first = whole('--seed', values.seed ?? '1');
    const count = whole('--seeds', values.seeds ?? (values.seed === undefined ? '30' : '1'));
    const minutes = whole('--minutes', values.minutes ?? '100000');
    const rigs = whole('--rigs', values.rigs ?? '1');
    return { first, count, minutes, rigs, without: kinds(values.without ?? []) };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function kinds(names: readonly string[]): readonly string[] {
  const wrong = names.find((name) => !FAULTS.some(({ kind }) => kind === name));
  if (wrong === undefined) return names;
  const known = FAULTS.map(({ kind }) => kind).join(', ');
  throw new UsageError(`--without ${wrong}: there is no such fault, only ${known}`);
}

/** Rigs side by side share the seeds between them. */
async function run({ first, count, minutes, rigs, without }: Options): Promise<number> {
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

async function main(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options !== undefined) return await run(options);
    process.stdout.write(usage);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${usage}`);
    return 2;
  }
}

// Not by its own end: Node 24 may wait for ever, at full speed, for a write to a socket whose other
// side was frozen when it was closed.
process.exit(await main());
