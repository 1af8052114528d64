// The pieces of a snapshot in etcd's SnapshotResponse, decoded by hand: of its fields two are read.
import type { Blob } from '../blobs.ts';

const [REMAINING_BYTES, BLOB] = [2, 3];
const [VARINT, LENGTH] = [0, 2];
const VARINT_BYTES_MAX = 10;

export async function* snapshotBlobs(messages: AsyncIterable<Buffer>): AsyncGenerator<Blob> {
  for await (const message of messages) yield blobIn(message);
}

/** The blob is a part of the message. */
function blobIn(message: Buffer): Blob {
  const cursor = { at: 0 };
  let blob = message.subarray(0, 0);
  let leftBytes = 0;
  while (cursor.at < message.length) {
    const tag = varintAt(message, cursor);
    const [field, type] = [tag >>> 3, tag & 7];
    const value = varintAt(message, cursor);
    if (type === LENGTH) {
      const end = cursor.at + value;
      if (end > message.length) throw odd();
      if (field === BLOB) blob = message.subarray(cursor.at, end);
      cursor.at = end;
    } else if (type !== VARINT) throw odd();
    else if (field === REMAINING_BYTES) leftBytes = value;
  }
  return { blob, leftBytes };
}

function varintAt(bytes: Buffer, cursor: { at: number }): number {
  let value = 0;
  for (let index = 0; index < VARINT_BYTES_MAX; index += 1) {
    const byte = bytes[cursor.at];
    if (byte === undefined) throw odd();
    cursor.at += 1;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return value;
  }
  throw odd();
}

const odd = (): Error => new Error('a message is none of a snapshot');
