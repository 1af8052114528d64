// Command-line options of the program in a Job's pod; every wrong one is named.
import { readFile } from 'node:fs/promises';
import { readArguments, UsageError } from '../../shared/arguments.ts';
import type { CheckOptions } from '../../shared/backups/check.ts';
import type { PartOptions } from '../../shared/backups/command.ts';
import type { ConfirmOptions } from '../../shared/backups/confirm.ts';
import { S3_ARGUMENTS, S3_USAGE, s3AddressOf } from '../../shared/s3/arguments.ts';

export const USAGE = `usage: node etcd-restore.mjs check --from s3://BUCKET/KEY | FILE --dir DIR ...
       node etcd-restore.mjs confirm --dir DIR --bump-revision N

The first and the last part of a restore, in the pod of an EtcdRestore. Between them etcdutl
restores DIR/restore/backup.db to DIR/data.

check: brings a backup there and holds it against its facts.
  --from s3://BUCKET/KEY | FILE   the backup
  --etcd-version VERSION          of the etcd that is to run on it
  --quota-bytes N                 of that etcd
  --sha256 HEX                    that it has to have
  --encrypt-key-file FILE         the key that it was encrypted with; one that was not is refused
  --locked-out TEXT               why nobody could log in
  --root-password-file FILE       root can, when it is there
${S3_USAGE}
confirm: reads what was restored.
  --bump-revision N               as etcdutl was told

  --dir DIR          the volume of the first member
  --result FILE      write the result there, too
  -h, --help         this text
`;

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  ...S3_ARGUMENTS,
  from: { type: 'string' },
  dir: { type: 'string' },
  'etcd-version': { type: 'string' },
  'quota-bytes': { type: 'string' },
  sha256: { type: 'string' },
  'encrypt-key-file': { type: 'string' },
  'locked-out': { type: 'string' },
  'root-password-file': { type: 'string' },
  'bump-revision': { type: 'string' },
  result: { type: 'string' },
} as const;

/** Undefined when help was asked for. */
export async function commandOptions(
  args: readonly string[],
): Promise<PartOptions<ConfirmOptions> | undefined> {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (values.help === true) return undefined;
  const [part, ...more] = positionals;
  if (more.length > 0) throw new UsageError(`one part at a time, not also ${more.join(' ')}`);
  const { dir, result: resultPath } = values;
  if (dir === undefined) throw new UsageError('say where the volume is: --dir DIR');
  if (part === 'confirm') {
    const bumpedBy = BigInt(numberIn('--bump-revision', values['bump-revision']));
    return { resultPath, confirm: { dir, bumpedBy } };
  }
  if (part !== 'check') throw new UsageError('say which part: check or confirm');
  return { resultPath, check: await checkOptions(dir, values) };
}

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>['values'];

async function checkOptions(dir: string, values: Values): Promise<CheckOptions> {
  const { from, sha256, 'etcd-version': version } = values;
  if (from === undefined) throw new UsageError('say what to restore: --from s3://... or a FILE');
  if (version === undefined) throw new UsageError('say what runs on it: --etcd-version 3.6.16');
  const quotaBytes = numberIn('--quota-bytes', values['quota-bytes']);
  const address = s3AddressOf(from, values);
  const hasRoot = await hasText(values['root-password-file']);
  const lockedOut = hasRoot ? undefined : values['locked-out'];
  return {
    dir,
    from: address === undefined ? { path: from } : { address },
    keyPath: values['encrypt-key-file'],
    wanted: { version, quotaBytes, sha256, lockedOut },
  };
}

function numberIn(option: string, text = ''): number {
  const value = Number(text);
  if (text !== '' && Number.isSafeInteger(value) && value > 0) return value;
  throw new UsageError(`${option} is a number above 0, not ${JSON.stringify(text)}`);
}

/** Where a Secret lacks that may lack, its file does. */
async function hasText(path: string | undefined): Promise<boolean> {
  if (path === undefined) return false;
  const text = await readFile(path, 'utf8').catch(() => '');
  return text !== '';
}
