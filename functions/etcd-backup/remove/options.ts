// Command-line options of the removal of a backup; every wrong one is named.
import { readArguments, refuseWords, UsageError, wholeNumber } from '../../../shared/arguments.ts';
import {
  S3_ARGUMENTS,
  S3_USAGE,
  type S3Address,
  s3AddressOf,
} from '../../../shared/s3/arguments.ts';
import type { CalledAs } from '../called-as.ts';
import type { Known } from './remove.ts';

export interface RemovalOptions {
  readonly from: { readonly path: string } | { readonly address: S3Address };
  readonly known: Known;
  /** Where the result is written as well, such as the termination message of a pod. */
  readonly resultPath: string | undefined;
}

export const removalUsageOf = (calledAs: CalledAs): string => `\
usage: ${calledAs.map(synopsisOf).join('       ')}\

Removes a stored backup and its facts, when they are those of this sha256 and size, and nothing
else. One that is gone already is no failure.

  --remove s3://BUCKET/KEY   in an object storage that speaks S3
  --remove FILE      a file
  --sha256 HEX       of the backup, as its facts or its EtcdBackup say
  --size BYTES       of the backup
${S3_USAGE}
  --result FILE      write the result there, too
  -h, --help         this text

Writes its result to stdout as one line of JSON. Ends with 0 when it is gone, with 1 when it is not,
and with 2 when it was asked wrongly.
`;

const synopsisOf = (calledAs: string): string =>
  `${calledAs} --remove s3://BUCKET/KEY | FILE --sha256 HEX --size BYTES  [OPTION...]\n`;

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  ...S3_ARGUMENTS,
  remove: { type: 'string' },
  sha256: { type: 'string' },
  size: { type: 'string' },
  result: { type: 'string' },
} as const;

export const isRemoval = (args: readonly string[]): boolean =>
  args.some((one) => one === '--remove' || one.startsWith('--remove='));

/** Undefined when help was asked for. */
export function removalOptions(args: readonly string[]): RemovalOptions | undefined {
  // `--remove --help` has no name yet.
  if (args.some((one) => one === '--help' || one === '-h')) return undefined;
  const { values, positionals } = readArguments(args, OPTIONS);
  refuseWords(positionals);
  const { remove: name = '', sha256 = '', result: resultPath } = values;
  if (name === '') throw new UsageError('say what to remove: --remove s3://... or a FILE');
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new UsageError('say which one: --sha256 of the backup');
  const sizeBytes = wholeNumber('--size', values.size, 0, Number.MAX_SAFE_INTEGER);
  if (sizeBytes === undefined) throw new UsageError('say which one: --size of the backup');
  const address = s3AddressOf(name, values);
  const from = address === undefined ? { path: name } : { address };
  return { from, known: { sha256, sizeBytes }, resultPath };
}
