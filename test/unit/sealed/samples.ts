// Keys of tests, and streams that are sealed and opened in pieces.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type SealKey, readSealKey } from '../../../shared/sealed/key.ts';
import { Opener } from '../../../shared/sealed/open.ts';
import { Sealer } from '../../../shared/sealed/seal.ts';

/** A directory that goes with the tests of the file. */
export function keyFiles(): (name: string, content: Buffer | string) => string {
  const dir = mkdtempSync(join(tmpdir(), 'ballast-keys-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  return (name, content) => {
    const path = join(dir, name);
    writeFileSync(path, content);
    return path;
  };
}

export const bytesOf = (first: number): Buffer => Buffer.alloc(32, first);

export const keyOf = (write: ReturnType<typeof keyFiles>, first: number): Promise<SealKey> =>
  readSealKey(write(`${first}`, bytesOf(first)));

export const sealedOf = (pieces: readonly Buffer[], key: SealKey, chunkBytes: number): Buffer => {
  const sealer = new Sealer(key, chunkBytes);
  const sealed = pieces.flatMap((piece) => sealer.update(piece));
  return Buffer.concat([...sealed, ...sealer.end()]);
};

/** Those that were handed out, and the error that ended it. */
export function openedOf(
  pieces: readonly Buffer[],
  key: SealKey,
): { readonly plain: Buffer; readonly error: unknown } {
  const opener = new Opener('backup', key);
  const plain: Buffer[] = [];
  let error: unknown;
  try {
    for (const piece of pieces) {
      for (const one of opener.update(piece)) plain.push(one);
    }
    plain.push(opener.end());
  } catch (cause) {
    error = cause;
  }
  return { plain: Buffer.concat(plain), error };
}
