// Hashes a stream on its way.
import type { Hash } from 'node:crypto';
import { Transform } from 'node:stream';

export const throughHash = (hash: Hash): Transform =>
  new Transform({
    transform: (chunk: Uint8Array, _, done) => {
      hash.update(chunk);
      done(undefined, chunk);
    },
  });
