// The content of a request: its size and its hash are known before its first byte, and a request
// that is sent again has all of it again, in pieces that no connection has to keep.
import { createHash } from 'node:crypto';

export interface Content {
  readonly sizeBytes: number;
  readonly sha256: Buffer;
  /** From the first byte, each time. A piece is good until the next one is asked for. */
  pieces(): AsyncIterable<Buffer>;
}

/** A connection has a copy of what it is given, encrypted. */
export const PIECE_BYTES = 256 * 1024;

export function contentOf(bytes: Buffer): Content {
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      yield bytes.subarray(at, at + PIECE_BYTES);
    }
  }
  const sha256 = createHash('sha256').update(bytes).digest();
  return { sizeBytes: bytes.length, sha256, pieces };
}
