// Seals a short text together with what it is about, which stays readable: it is opened beside
// exactly that, and nothing of either can be exchanged.
import { randomBytes } from 'node:crypto';
import { type Header, openedChunk, sealedChunk, TAG_BYTES } from './chunks.ts';
import { derivedKey, type SealKey } from './key.ts';

const SALT_BYTES = 32;
const ALONE = { number: 0, isLast: true };

const headerOf = (key: SealKey, salt: Buffer, about: string): Header => ({
  bytes: Buffer.from(about),
  chunkBytes: 0,
  chunkKey: derivedKey(key, salt, 'text'),
});

/** In base64. */
export function sealedText(text: string, about: string, key: SealKey): string {
  const salt = randomBytes(SALT_BYTES);
  const sealed = sealedChunk(headerOf(key, salt, about), ALONE, Buffer.from(text));
  return Buffer.concat([salt, sealed]).toString('base64');
}

/** Undefined for what this key has not sealed about exactly this. */
export function openedText(sealed: string, about: string, key: SealKey): string | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  if (bytes.length < SALT_BYTES + TAG_BYTES) return undefined;
  const salt = bytes.subarray(0, SALT_BYTES);
  return openedChunk(headerOf(key, salt, about), ALONE, bytes.subarray(SALT_BYTES))?.toString();
}
