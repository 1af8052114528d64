// Command-line options of a backup; every wrong one is named.
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { readArguments, refuseWords, UsageError, wholeNumber } from '../../shared/arguments.ts';
import type { EtcdLogin } from '../../shared/etcd/admin/caller.ts';
import { endpointOf, ETCD_ARGUMENTS, tlsOf } from '../../shared/etcd/arguments.ts';
import { Failure } from '../../shared/errors.ts';
import { S3_ARGUMENTS, S3_USAGE, s3AddressOf } from '../../shared/s3/arguments.ts';
import type { BackupOptions } from './backup.ts';
import type { CalledAs } from './called-as.ts';

export interface CommandOptions extends BackupOptions {
  /** Where the result is written as well, such as the termination message of a pod. */
  readonly resultPath: string | undefined;
}

export const usageOf = ([first, ...others]: CalledAs): string => `\
usage: ${[first, ...others].map(synopsisOf).join('       ')}\
       ${first} --remove --help  removes one

Takes a backup of an etcd, whoever made it: streams the snapshot of one member, checks it against
its own hash and against the hash of all keys that the member tells, and only then has it stand
under its name, with what is known of it beside it in NAME.json. Nothing is ever overwritten, and
nothing is left when it fails.

  --etcd URL         as https://10.0.0.1:2379; may be repeated. Of its members a follower is asked
  --cacert FILE      the CA of its certificate
  --cert FILE        our client certificate,
  --key FILE         and its key
  --user NAME        for an etcd with logins: root, since nobody else may have a snapshot,
  --password-file FILE   and the password

  --to s3://BUCKET/KEY   into an object storage that speaks S3
  --to FILE          into a file
  --spool DIR        where a copy is kept meanwhile for an object, and for what is encrypted (/tmp)
  --spool-bytes N    the most that it may take there
  --confirm-up-to BYTES  ask no member for its hash of a larger one (2 GiB): it takes no writes
                     while it reckons that
  --s3-sse HOW       have it encrypted there: AES256, aws:kms, or aws:kms:KEY
${S3_USAGE}
  --encrypt-key-file FILE  encrypt it with this key, 32 random bytes, as they are or in base64
                     (openssl rand -base64 32): nothing can be read where it is stored, and
                     without the key nobody restores it
  --writer SECRET    the same for all attempts at one backup, and known to nobody else: one that
                     finds what an earlier one has finished tells that, and what an earlier one
                     left it takes back
  --own-name         with --writer: nobody else ever writes to this name, so that uploads of earlier
                     attempts that were killed are aborted first
  --result FILE      write the result there, too
  -h, --help         this text

Writes its result to stdout as one line of JSON of less than 4 KiB. Ends with 0 when there is a
backup, with 1 when there is none, and with 2 when it was asked wrongly.
`;

const synopsisOf = (calledAs: string): string =>
  `${calledAs} --etcd URL --to s3://BUCKET/KEY | FILE  [OPTION...]\n`;

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  ...ETCD_ARGUMENTS,
  ...S3_ARGUMENTS,
  user: { type: 'string' },
  'password-file': { type: 'string' },
  to: { type: 'string' },
  spool: { type: 'string' },
  'spool-bytes': { type: 'string' },
  's3-sse': { type: 'string' },
  'confirm-up-to': { type: 'string' },
  'encrypt-key-file': { type: 'string' },
  writer: { type: 'string' },
  'own-name': { type: 'boolean' },
  result: { type: 'string' },
} as const;

/** Undefined when help was asked for. */
export async function commandOptions(args: readonly string[]): Promise<CommandOptions | undefined> {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (values.help === true) return undefined;
  refuseWords(positionals);
  const { etcd = [], to, user } = values;
  if (etcd.length === 0) throw new UsageError('say what to back up: --etcd URL');
  if (to === undefined || to === '') throw new UsageError('say where to: --to s3://... or a FILE');
  const endpoints = etcd.map((url) => endpointOf(url));
  const login = await loginOf(user, values['password-file']);
  const address = s3AddressOf(to, values, encryptionOf(values['s3-sse']));
  const most = Number.MAX_SAFE_INTEGER;
  const {
    spool: spoolDir = tmpdir(),
    'spool-bytes': spooled,
    'encrypt-key-file': keyPath,
  } = values;
  const spoolBytes = wholeNumber('--spool-bytes', spooled, 1, most);
  return {
    confirmUpToBytes: wholeNumber('--confirm-up-to', values['confirm-up-to'], 0, most),
    etcd: { endpoints, tls: tlsOf(values), login },
    to: address === undefined ? { path: to } : { address, spoolDir, spoolBytes },
    sealing: keyPath === undefined ? undefined : { keyPath, spoolDir, spoolBytes },
    writer: writerOf(values.writer),
    isNameOwn: isNameOwn(values),
    resultPath: values.result,
  };
}

/** It must not be guessed. */
function writerOf(text: string | undefined): string | undefined {
  if (text === undefined || /^[\w-]{16,128}$/.test(text)) return text;
  throw new UsageError('--writer is 16 to 128 letters, digits, _ and - that nobody else knows');
}

function isNameOwn(values: { readonly 'own-name'?: boolean; readonly writer?: string }): boolean {
  const { 'own-name': isOwn = false, writer } = values;
  if (isOwn && writer === undefined) throw new UsageError('--own-name goes with --writer');
  return isOwn;
}

function encryptionOf(text: string | undefined): string | undefined {
  if (text === undefined || /^(?:AES256|aws:kms(?::[\w:/.-]+)?)$/.test(text)) return text;
  throw new UsageError(`--s3-sse is AES256, aws:kms or aws:kms:KEY, not ${text}`);
}

async function loginOf(
  user: string | undefined,
  passwordPath: string | undefined,
): Promise<EtcdLogin | undefined> {
  if ((user === undefined) !== (passwordPath === undefined)) {
    throw new UsageError('--user and --password-file go together');
  }
  if (user === undefined || passwordPath === undefined) return undefined;
  try {
    // Editors and echo end a file with a new line.
    return { user, password: (await readFile(passwordPath, 'utf8')).replace(/\r?\n$/, '') };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `The password for etcd cannot be read (${why}): name a file that can.`;
    throw new Failure('ETCD_ACCESS_UNREADABLE', message, { object: passwordPath, cause });
  }
}
