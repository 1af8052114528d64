// Hashes of files, and of streams on their way.
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const READ_BYTES = 2 ** 20;

/** SHA-256, in hex. */
export async function hashOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: READ_BYTES }), hash);
  return hash.digest('hex');
}

export const throughHash = (hash: Hash): Transform =>
  new Transform({
    transform: (chunk: Uint8Array, _, done) => {
      hash.update(chunk);
      done(undefined, chunk);
    },
  });
