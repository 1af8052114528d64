// Credentials for NATS beside the url: the authority to trust, and a certificate, an NKey or a JWT
// to present. The names are the same everywhere: keys of a Secret, files of a mounted one, and
// options of a program.
import { join } from 'node:path';

// Not imported: that evaluates all that node:fs exports, which takes 3 ms of each start.
const { readdirSync, readFileSync } = process.getBuiltinModule('node:fs');

/**
 * `ca.crt`, `tls.crt` and `tls.key` are PEM; `nats.creds` is a file of NATS with a user's JWT and
 * seed; `nkey` is the seed alone.
 */
const ACCESS_KEYS = ['ca.crt', 'tls.crt', 'tls.key', 'nats.creds', 'nkey'] as const;

export type NatsAccess = { readonly [Key in (typeof ACCESS_KEYS)[number]]?: string };

export interface AccessSource {
  /** As sentences name it: `Secret feeds/nats`. */
  readonly from: string;
  /** Called before each connection and when one is lost: what is new then is used at once. */
  readonly read: () => NatsAccess;
}

/** Picks the credentials from all keys of a Secret. */
export const accessIn = (data: Readonly<Record<string, string | undefined>>): NatsAccess =>
  Object.fromEntries(
    ACCESS_KEYS.flatMap((key) => (data[key] === undefined ? [] : [[key, data[key]]])),
  );

/** A Secret that is mounted there, or files of the same names. The kubelet swaps all at once. */
export function accessFiles(directory: string): AccessSource {
  const read = (): NatsAccess => {
    const there = new Set(readdirSync(directory));
    const found = ACCESS_KEYS.filter((key) => there.has(key));
    return Object.fromEntries(
      found.map((key) => [key, readFileSync(join(directory, key), 'utf8')]),
    );
  };
  return { from: `directory ${directory}`, read };
}

const nothing = (from: string): AccessSource => ({ from, read: () => ({}) });

export const NO_ACCESS = nothing('the option access');

export const accessOfFunction = (directory: string | undefined): AccessSource =>
  directory === undefined
    ? nothing('the Secret that NATS_SECRET_DIR would name')
    : accessFiles(directory);
