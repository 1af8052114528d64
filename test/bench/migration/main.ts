// `node test/bench/migration/main.ts SIDE...`: runs each of them some times on the same objects and
// prints what each run was like, for a look at one of them without the pairs of a benchmark.
import { UsageError } from '../../../shared/arguments.ts';
import { clusterApiSide, knativeSide } from './go-peers.ts';
import { inTreeSide } from './in-tree.ts';
import { ourSide } from './ours.ts';
import { helpOf, type Options, readOptions, USAGE } from './options.ts';
import { MigrationWorld, type MigrationSide } from './world.ts';

const SIDES: ReadonlyMap<string, () => MigrationSide> = new Map([
  ['ours', ourSide],
  ['in-tree', () => inTreeSide()],
  ['in-tree-idle', () => inTreeSide({ isIdle: true })],
  ['cluster-api', clusterApiSide],
  ['knative', knativeSide],
]);

async function measure({ sides: names, objects, runs }: Options): Promise<void> {
  const sides = names.flatMap((name) => SIDES.get(name)?.() ?? []);
  const world = await MigrationWorld.open(objects);
  // Nothing that it started may outlive it: work under way then fails, and the process ends.
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

async function main(args: readonly string[]): Promise<number> {
  const known = [...SIDES.keys()];
  try {
    const options = readOptions(args, known);
    if (options === undefined) process.stdout.write(helpOf(known));
    else await measure(options);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n${USAGE}\n`);
    return 2;
  }
}

process.exitCode = await main(process.argv.slice(2));
