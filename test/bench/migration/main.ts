// `node test/bench/migration/main.ts SIDE...`: runs each of them some times on the same objects and
// prints what each run was like, for a look at one of them without the pairs of a benchmark.
import { readArguments } from '../../../shared/arguments.ts';
import { clusterApiSide, knativeSide } from './go-peers.ts';
import { inTreeSide } from './in-tree.ts';
import { ourSide } from './ours.ts';
import { MigrationWorld, type MigrationSide } from './world.ts';

const SIDES: ReadonlyMap<string, () => MigrationSide> = new Map([
  ['ours', ourSide],
  ['in-tree', () => inTreeSide()],
  ['in-tree-idle', () => inTreeSide({ isIdle: true })],
  ['cluster-api', clusterApiSide],
  ['knative', knativeSide],
]);

const USAGE = 'usage: node test/bench/migration/main.ts [--help] [--objects N] [--runs N] SIDE...';
const HELP = `${USAGE}

Migrates N custom resources of about 1.3 KB from v1alpha1 to v1 on a control plane of its own, and
prints a line for each run.

  SIDE         ${[...SIDES.keys()].join(', ')}
  --objects N  how many there are (3000)
  --runs N     how often each side runs (3)
  -h, --help   this text
`;

interface Options {
  readonly sides: readonly string[];
  readonly objects: number;
  readonly runs: number;
}

/** The options, `help`, or what is wrong with them. */
function readOptions(): Options | string {
  try {
    const options = {
      objects: { type: 'string', default: '3000' },
      runs: { type: 'string', default: '3' },
      help: { type: 'boolean', short: 'h' },
    } as const;
    const { values, positionals: sides } = readArguments(process.argv.slice(2), options);
    if (values.help === true) return 'help';
    const unknown = sides.find((name) => !SIDES.has(name));
    if (unknown !== undefined) return `there is no side ${unknown}`;
    if (sides.length === 0) return 'name at least one side';
    const [objects, runs] = [Number(values.objects), Number(values.runs)];
    const areCounts = [objects, runs].every((count) => Number.isInteger(count) && count > 0);
    return areCounts ? { sides, objects, runs } : '--objects and --runs want whole numbers above 0';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function measure({ sides: names, objects, runs }: Options): Promise<void> {
  const sides = names.flatMap((name) => SIDES.get(name)?.() ?? []);
  const world = await MigrationWorld.open(objects);
  // What it started must not outlive it: whoever is at work then fails, and the process ends.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void world.close().catch(() => undefined));
  }
  try {
    for (let run = 0; run < runs; run += 1) {
      for (const side of sides) {
        const figures = Object.entries(await world.run(side));
        const line = figures.map(([name, value]) => `${name} ${value.toPrecision(4)}`).join(', ');
        process.stdout.write(`${side.name}: ${line}\n`);
      }
    }
  } finally {
    await world.close();
  }
}

async function main(): Promise<number> {
  const options = readOptions();
  if (options === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  if (typeof options === 'string') {
    process.stderr.write(`${options}\n${USAGE}\n`);
    return 2;
  }
  await measure(options);
  return 0;
}

process.exitCode = await main();
