// A key of the user's for what leaves the cluster: 32 random bytes in a file, as they are or in
// base64. It is never shown, and is known by an id that follows from it and tells nothing of it.
import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Failure } from '../errors.ts';

export interface SealKey {
  readonly secret: KeyObject;
  /** In hex. */
  readonly id: string;
}

const KEY_BYTES = 32;
export const KEY_ID_BYTES = 8;
const BASE64 = /^[A-Za-z0-9+/]{43}=$/;
const NEXT = 'It has to be 32 random bytes, as they are or in base64: openssl rand -base64 32.';

export async function readSealKey(path: string): Promise<SealKey> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw unusable(path, `cannot be read (${why})`, cause);
  }
  const secret = secretIn(bytes);
  if ('why' in secret) throw unusable(path, secret.why);
  return { secret: createSecretKey(secret.bytes), id: idOf(secret.bytes) };
}

function secretIn(bytes: Buffer): { readonly bytes: Buffer } | { readonly why: string } {
  const text = bytes.toString('latin1').trim();
  if (bytes.length === KEY_BYTES) {
    // Random bytes are never all letters: somebody has written half a key, or a password.
    return /^[\x20-\x7E]*$/.test(text) ? { why: 'has 32 letters and digits' } : { bytes };
  }
  const decoded = Buffer.from(text, 'base64');
  // Nothing else in base64 is this key: a letter that was mistyped is not passed over.
  if (BASE64.test(text) && decoded.toString('base64') === text) return { bytes: decoded };
  return { why: `has ${bytes.length} bytes, which are neither` };
}

/** The same for everything that is sealed with this key. */
const idOf = (secret: Buffer): string =>
  createHmac('sha256', secret)
    .update('ballast-sealed key id')
    .digest()
    .subarray(0, KEY_ID_BYTES)
    .toString('hex');

/** A key for one purpose and one salt alone. */
export function derivedKey({ secret }: SealKey, salt: Buffer, purpose: string): KeyObject {
  const info = `ballast-sealed/v1 ${purpose}`;
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, salt, info, KEY_BYTES)));
}

function unusable(path: string, why: string, cause?: unknown): Failure {
  const message = `The key for encryption in ${path} ${why}. ${NEXT}`;
  return new Failure('BACKUP_KEY_UNUSABLE', message, { object: path, cause });
}
