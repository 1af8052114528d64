// One record of etcd's history: the revision that is its key, and the mvccpb.KeyValue under it, of
// which the fields before the value are decoded by hand.

export interface Revision {
  readonly main: number;
  readonly sub: number;
  readonly isTombstone: boolean;
}

export interface KeyValue {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly modRevision: number;
  readonly valueStart: number;
  readonly valueBytes: number;
}

const REVISION_BYTES = 17;
const SEPARATOR = 95;
const TOMBSTONE = 116;

const KEY = 0x0a;
const CREATE_REVISION = 0x10;
const MOD_REVISION = 0x18;
const VERSION = 0x20;
const VALUE = 0x2a;
const LEASE = 0x30;

/** Undefined when the bytes are no revision: eight of main, `_`, eight of sub, `t` for a delete. */
export function revisionAt(bytes: Buffer, start: number, length: number): Revision | undefined {
  const isTombstone = length === REVISION_BYTES + 1 && bytes[start + REVISION_BYTES] === TOMBSTONE;
  if (length !== REVISION_BYTES && !isTombstone) return undefined;
  if (bytes[start + 8] !== SEPARATOR) return undefined;
  const main = bytes.readUInt32BE(start) * 2 ** 32 + bytes.readUInt32BE(start + 4);
  const sub = bytes.readUInt32BE(start + 9) * 2 ** 32 + bytes.readUInt32BE(start + 13);
  return { main, sub, isTombstone };
}

/**
 * The record in `bytes` from `start`, which is `sizeBytes` long in the file; `bytes` may end within
 * its value. `short` when they end before it, `broken` when it is no such record.
 */
export function keyValueAt(
  bytes: Buffer,
  start: number,
  sizeBytes: number,
): KeyValue | 'short' | 'broken' {
  const end = start + sizeBytes;
  let [keyStart, keyEnd, modRevision, valueStart, valueBytes] = [start, start, 0, start, 0];
  const cursor = { at: start };
  while (cursor.at < end) {
    if (cursor.at >= bytes.length) return 'short';
    const tag = bytes[cursor.at] ?? 0;
    cursor.at += 1;
    const number = varint(bytes, cursor);
    if (number === undefined) return cursor.at >= bytes.length ? 'short' : 'broken';
    if (tag === KEY || tag === VALUE) {
      if (cursor.at + number > end) return 'broken';
      if (tag === KEY) [keyStart, keyEnd] = [cursor.at, cursor.at + number];
      else [valueStart, valueBytes] = [cursor.at, number];
      cursor.at += number;
      // The value may be cut off here, and what follows it is a lease at most.
      if (tag === VALUE && cursor.at > bytes.length) break;
      if (tag === KEY && cursor.at > bytes.length) return 'short';
    } else if (tag === MOD_REVISION) modRevision = number;
    else if (tag !== CREATE_REVISION && tag !== VERSION && tag !== LEASE) return 'broken';
  }
  const rest = end - Math.max(cursor.at, valueStart + valueBytes);
  if (rest > LEASE_BYTES_MAX) return 'broken';
  return { keyStart, keyEnd, modRevision, valueStart, valueBytes };
}

/** The tag and a number of 64 bits. */
const LEASE_BYTES_MAX = 11;
const VARINT_BYTES_MAX = 10;

/** As exact as a double is: revisions and lengths are far below 2^53. */
function varint(bytes: Buffer, cursor: { at: number }): number | undefined {
  let value = 0;
  for (let index = 0; index < VARINT_BYTES_MAX; index += 1) {
    const byte = bytes[cursor.at];
    if (byte === undefined) return undefined;
    cursor.at += 1;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return value;
  }
  return undefined;
}
