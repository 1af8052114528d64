// Command-line options of `npm run chaos:feed`; every wrong one is named, but for kinds of faults,
// which only the faults know.
import { readArguments, refuseWords, UsageError } from '../../shared/arguments.ts';
import { whole } from '../whole.ts';

export const USAGE = `npm run chaos:feed -- --seeds N       runs the seeds 1 to N
npm run chaos:feed -- --seed S        runs this one; with --seeds N, N from this one on
npm run chaos:feed -- --without KIND  leaves out faults of this kind; may be given again
npm run chaos:feed -- --minutes M     begins no seed after so many minutes
npm run chaos:feed -- --rigs R        on so many control planes at once, 700 MB each
npm run chaos:feed -- --help          prints this
`;

export interface Options {
  readonly first: number;
  readonly count: number;
  readonly minutes: number;
  readonly rigs: number;
  readonly without: readonly string[];
}

/** Undefined when help was asked for. */
export function readOptions(args: readonly string[]): Options | undefined {
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
    return { first, count, minutes, rigs, without: values.without ?? [] };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
