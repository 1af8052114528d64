// The form of a sealed stream: a header, and chunks of one size, each with its tag. The key of the
// chunks is of this stream alone, so their numbers are nonces that never come again; the nonce says
// also whether a chunk is the last one. So none is left out, doubled, moved, or taken from another
// stream, and the stream does not end early.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { derivedKey, KEY_ID_BYTES, type SealKey } from './key.ts';
import { changed, keyIsOther, notSealed } from './refusals.ts';

export const SEALED_FORMAT = 'ballast-sealed/v1';

/** Plain content is cut into pieces of this size. */
export const CHUNK_BYTES = 64 * 1024;
export const TAG_BYTES = 16;

const MAGIC = Buffer.from('ballast-sealed\n');
const VERSION = 1;
const CHUNK_BYTES_AT = MAGIC.length + 1;
const SALT_AT = CHUNK_BYTES_AT + 4;
const SALT_BYTES = 32;
const KEY_ID_AT = SALT_AT + SALT_BYTES;
const PROOF_AT = KEY_ID_AT + KEY_ID_BYTES;
const PROOF_BYTES = 32;
export const HEADER_BYTES = PROOF_AT + PROOF_BYTES;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;

export interface Header {
  /** Told with each chunk. */
  readonly bytes: Buffer;
  readonly chunkBytes: number;
  readonly chunkKey: KeyObject;
}

export function newHeader(key: SealKey, chunkBytes: number): Header {
  const bytes = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(bytes);
  bytes.writeUInt8(VERSION, MAGIC.length);
  bytes.writeUInt32BE(chunkBytes, CHUNK_BYTES_AT);
  const salt = randomBytes(SALT_BYTES);
  salt.copy(bytes, SALT_AT);
  bytes.write(key.id, KEY_ID_AT, 'hex');
  proofOf(bytes, key).copy(bytes, PROOF_AT);
  return { bytes, chunkBytes, chunkKey: derivedKey(key, salt, 'chunks') };
}

/** Whether this is the beginning of a sealed stream, as far as there is one. */
export const isSealed = (bytes: Buffer): boolean =>
  bytes.length > 0 && bytes.subarray(0, MAGIC.length).equals(MAGIC.subarray(0, bytes.length));

/** Takes a whole header. */
export const keyIdIn = (bytes: Buffer): string => bytes.toString('hex', KEY_ID_AT, PROOF_AT);

/** Nothing in it is believed before its proof. */
export function headerIn(bytes: Buffer, key: SealKey, name: string): Header {
  if (!isSealed(bytes)) throw notSealed(name);
  const version = bytes.readUInt8(MAGIC.length);
  if (version !== VERSION) {
    throw changed(name, `is encrypted in version ${version} of its form, and ${VERSION} is known`);
  }
  const keyId = keyIdIn(bytes);
  if (keyId !== key.id) throw keyIsOther(name, keyId, key.id);
  if (!timingSafeEqual(proofOf(bytes, key), bytes.subarray(PROOF_AT))) {
    throw changed(name, `was changed in its first ${HEADER_BYTES} bytes`);
  }
  const salt = bytes.subarray(SALT_AT, KEY_ID_AT);
  const chunkBytes = bytes.readUInt32BE(CHUNK_BYTES_AT);
  return { bytes, chunkBytes, chunkKey: derivedKey(key, salt, 'chunks') };
}

/** No two keys give the same, which cannot be said of the tags of AES-GCM. */
function proofOf(bytes: Buffer, key: SealKey): Buffer {
  const salt = bytes.subarray(SALT_AT, KEY_ID_AT);
  const proving = derivedKey(key, salt, 'header');
  return createHmac('sha256', proving).update(bytes.subarray(0, PROOF_AT)).digest();
}

/** A chunk by its place. */
export interface Place {
  /** From 0. */
  readonly number: number;
  readonly isLast: boolean;
}

function nonceOf({ number, isLast }: Place): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeBigUInt64BE(BigInt(number), 0);
  nonce.writeUInt8(isLast ? 1 : 0, NONCE_BYTES - 1);
  return nonce;
}

export function sealedChunk({ bytes, chunkKey }: Header, place: Place, plain: Buffer): Buffer {
  const cipher = createCipheriv(CIPHER, chunkKey, nonceOf(place), { authTagLength: TAG_BYTES });
  cipher.setAAD(bytes);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined unless this very chunk was sealed for this place. */
export function openedChunk(
  { bytes, chunkKey }: Header,
  place: Place,
  sealed: Buffer,
): Buffer | undefined {
  if (sealed.length < TAG_BYTES) return undefined;
  const end = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, chunkKey, nonceOf(place), { authTagLength: TAG_BYTES });
  decipher.setAAD(bytes);
  decipher.setAuthTag(sealed.subarray(end));
  const plain = decipher.update(sealed.subarray(0, end));
  try {
    decipher.final();
  } catch {
    return undefined;
  }
  return plain;
}

/** The size that so many bytes have when they are sealed. */
export const sealedSizeOf = (plainBytes: number, chunkBytes = CHUNK_BYTES): number =>
  HEADER_BYTES + plainBytes + TAG_BYTES * Math.max(1, Math.ceil(plainBytes / chunkBytes));
