// Reads the arguments of the migration benchmarks' command line; every wrong one is named.
import { readArguments, UsageError } from '../../../shared/arguments.ts';

export const USAGE =
  'usage: node test/bench/migration/main.ts [--help] [--objects N] [--runs N] SIDE...';

export const helpOf = (sides: readonly string[]): string => `${USAGE}

Migrates N custom resources of about 1.3 KB from v1alpha1 to v1 on a control plane of its own, and
prints a line for each run.

  SIDE         ${sides.join(', ')}
  --objects N  how many there are (3000)
  --runs N     how often each side runs (3)
  -h, --help   this text
`;

export interface Options {
  readonly sides: readonly string[];
  readonly objects: number;
  readonly runs: number;
}

const OPTIONS = {
  objects: { type: 'string', default: '3000' },
  runs: { type: 'string', default: '3' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Undefined when help was asked for. */
export function readOptions(
  args: readonly string[],
  known: readonly string[],
): Options | undefined {
  const { values, positionals: sides } = readArguments(args, OPTIONS);
  if (values.help === true) return undefined;
  const unknown = sides.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new UsageError(`there is no side ${unknown}`);
  if (sides.length === 0) throw new UsageError('name at least one side');
  const [objects, runs] = [Number(values.objects), Number(values.runs)];
  const areCounts = [objects, runs].every((count) => Number.isInteger(count) && count > 0);
  if (areCounts) return { sides, objects, runs };
  throw new UsageError('--objects and --runs want whole numbers above 0');
}
