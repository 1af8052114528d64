// Command-line options of the programs that rehearse a backup; every wrong one is named.
import { readArguments, UsageError, wholeNumber } from '../../../shared/arguments.ts';
import type { CheckOptions } from '../../../shared/backups/check.ts';
import type { PartOptions } from '../../../shared/backups/command.ts';
import { CHECK, CONFIRM } from '../../../shared/jobs/etcdutl.ts';
import { S3_ARGUMENTS, S3_USAGE, s3AddressOf } from '../../../shared/s3/arguments.ts';
import { isOfAttempt } from '../facts.ts';
import { markOf } from '../mark.ts';

export const REHEARSAL_USAGE = `\
usage: node etcd-backup.mjs check --from s3://BUCKET/KEY | FILE --dir DIR ...
       node etcd-backup.mjs confirm --of s3://BUCKET/KEY | FILE --dir DIR

The first and the last part of a rehearsal, in the pod of an EtcdBackup. Between them etcdutl
restores DIR/restore/backup.db to DIR/data.

check: brings a backup there from where it is stored, and holds it against its facts.
  --from s3://BUCKET/KEY | FILE   the backup
  --etcd-version VERSION          of the etcdutl that is to restore it
  --room-bytes N                  the most that may be taken there
  --writer SECRET                 that the backup was taken with
  --encrypt-key-file FILE         the key that it was encrypted with; one that was not is refused
${S3_USAGE}
confirm: reads what was restored, and what is stored in it in which version.
  --of s3://BUCKET/KEY | FILE     whose name is told

  --dir DIR          a directory for it
  --result FILE      write the result there, too
  -h, --help         this text
`;

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  ...S3_ARGUMENTS,
  from: { type: 'string' },
  of: { type: 'string' },
  dir: { type: 'string' },
  'etcd-version': { type: 'string' },
  'room-bytes': { type: 'string' },
  writer: { type: 'string' },
  'encrypt-key-file': { type: 'string' },
  result: { type: 'string' },
} as const;

export interface Confirming {
  readonly dir: string;
  /** The backup's, as it is told. */
  readonly name: string;
}

export const isRehearsal = ([part]: readonly string[]): boolean =>
  part === CHECK || part === CONFIRM;

/** Undefined when help was asked for. */
export function rehearsalOptions(args: readonly string[]): PartOptions<Confirming> | undefined {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (values.help === true) return undefined;
  const [part, ...more] = positionals;
  if (more.length > 0) throw new UsageError(`one part at a time, not also ${more.join(' ')}`);
  const { dir, of, result: resultPath } = values;
  if (dir === undefined) throw new UsageError('say where it may be restored: --dir DIR');
  if (part === CHECK) return { resultPath, check: checkOptions(dir, values) };
  if (of === undefined) throw new UsageError('say of what: --of s3://... or a FILE');
  return { resultPath, confirm: { dir, name: of } };
}

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>['values'];

function checkOptions(dir: string, values: Values): CheckOptions {
  const { from, writer, 'etcd-version': version, 'room-bytes': room } = values;
  if (from === undefined) throw new UsageError('say what to rehearse: --from s3://... or a FILE');
  if (version === undefined) throw new UsageError('say by what: --etcd-version 3.6.16');
  const address = s3AddressOf(from, values);
  const roomBytes = wholeNumber('--room-bytes', room, 1, Number.MAX_SAFE_INTEGER);
  const mark = writer === undefined ? undefined : markOf(writer);
  return {
    dir,
    from: address === undefined ? { path: from } : { address },
    keyPath: values['encrypt-key-file'],
    wanted: {
      version,
      quotaBytes: undefined,
      roomBytes,
      sha256: undefined,
      lockedOut: undefined,
      isOfWriter: mark && ((text) => isOfAttempt(text, mark)),
    },
  };
}
