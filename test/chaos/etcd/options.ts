// Command-line options of `npm run chaos:etcd`.
import { readArguments, refuseWords, UsageError } from '../../../shared/arguments.ts';
import { whole } from '../../whole.ts';

export const USAGE = `npm run chaos:etcd -- --seeds N       runs the seeds 1 to N
npm run chaos:etcd -- --seed S        runs this one; with --seeds N, N from this one on
npm run chaos:etcd -- --minutes M     begins no seed after so many minutes
npm run chaos:etcd -- --help          prints this
`;

export interface Options {
  readonly first: number;
  readonly count: number;
  readonly minutes: number;
}

/** Undefined when help was asked for. */
export function readOptions(args: readonly string[]): Options | undefined {
  const options = {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    minutes: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    const { values, positionals } = readArguments(args, options);
    if (values.help === true) return undefined;
    refuseWords(positionals);
    const first = whole('--seed', values.seed ?? '1');
    const count = whole('--seeds', values.seeds ?? (values.seed === undefined ? '100' : '1'));
    return { first, count, minutes: whole('--minutes', values.minutes ?? '100000') };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
