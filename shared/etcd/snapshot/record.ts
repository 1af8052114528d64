// One record of etcd's history: the revision that is its key, and the mvccpb.KeyValue under it,
// decoded by hand. A record that is not written as etcd writes it is none: without a hash of the
// file a changed bit must not make another key, or none, of it.

/** 64 bits as two numbers: a restore may bump revisions beyond what one holds exactly. */
export interface Revision {
  readonly mainHigh: number;
  readonly mainLow: number;
  readonly sub: number;
  readonly isTombstone: boolean;
}

export interface KeyValue {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly modHigh: number;
  readonly modLow: number;
  readonly valueStart: number;
  readonly valueBytes: number;
}

const REVISION_BYTES = 17;
const SEPARATOR = 95;
const TOMBSTONE = 116;

const [KEY, CREATE_REVISION, MOD_REVISION, VERSION] = [0x0a, 0x10, 0x18, 0x20];
const [VALUE, LEASE] = [0x2a, 0x30];
const TAGS: ReadonlySet<number> = new Set([
  KEY,
  CREATE_REVISION,
  MOD_REVISION,
  VERSION,
  VALUE,
  LEASE,
]);
/** Fields of every record that is no delete: none of these numbers is ever zero. */
const FIELDS = [KEY, CREATE_REVISION, MOD_REVISION, VERSION].reduce(
  (sum, tag) => sum | bit(tag),
  0,
);

/** Undefined when the bytes are no revision: eight of main, `_`, eight of sub, `t` for a delete. */
export function revisionAt(bytes: Buffer, start: number, length: number): Revision | undefined {
  const isTombstone = length === REVISION_BYTES + 1 && bytes[start + REVISION_BYTES] === TOMBSTONE;
  if (length !== REVISION_BYTES && !isTombstone) return undefined;
  if (bytes[start + 8] !== SEPARATOR) return undefined;
  const mainHigh = bytes.readUInt32BE(start);
  const mainLow = bytes.readUInt32BE(start + 4);
  const sub = bytes.readUInt32BE(start + 9) * 2 ** 32 + bytes.readUInt32BE(start + 13);
  return { mainHigh, mainLow, sub, isTombstone };
}

export const mainOf = ({ mainHigh, mainLow }: Revision): bigint =>
  (BigInt(mainHigh) << 32n) | BigInt(mainLow);

/** Whether it is at the same main revision as another, before it or after it. */
export const compareMain = (one: Revision, other: Revision): number =>
  one.mainHigh - other.mainHigh || one.mainLow - other.mainLow;

/**
 * The record in `bytes` from `start`, which is `sizeBytes` long in the file; `bytes` may end within
 * its value, when nothing follows that. `short` when they end before, `broken` when it is no such
 * record.
 */
export function keyValueAt(
  bytes: Buffer,
  start: number,
  sizeBytes: number,
  isTombstone: boolean,
): KeyValue | 'short' | 'broken' {
  const end = start + sizeBytes;
  const found = { keyStart: 0, keyEnd: 0, modHigh: 0, modLow: 0, valueStart: start, valueBytes: 0 };
  const cursor = { at: start, high: 0, low: 0 };
  let last = 0;
  let fields = 0;
  while (cursor.at < end) {
    if (cursor.at >= bytes.length) return 'short';
    const tag = bytes[cursor.at] ?? 0;
    // In the order of their numbers, and each once.
    if (tag <= last || !TAGS.has(tag)) return 'broken';
    last = tag;
    fields |= bit(tag);
    cursor.at += 1;
    if (!readVarint(bytes, cursor)) return cursor.at >= bytes.length ? 'short' : 'broken';
    if (tag === MOD_REVISION) [found.modHigh, found.modLow] = [cursor.high, cursor.low];
    if (tag !== KEY && tag !== VALUE) continue;
    const from = cursor.at;
    cursor.at += cursor.high * 2 ** 32 + cursor.low;
    if (cursor.at > end) return 'broken';
    if (tag === KEY) [found.keyStart, found.keyEnd] = [from, cursor.at];
    else [found.valueStart, found.valueBytes] = [from, cursor.at - from];
    if (cursor.at > bytes.length && (tag === KEY || cursor.at < end)) return 'short';
  }
  const isWhole = isTombstone ? fields === bit(KEY) : (fields & FIELDS) === FIELDS;
  return isWhole && found.keyEnd > found.keyStart ? found : 'broken';
}

function bit(tag: number): number {
  return 1 << (tag >> 3);
}

const VARINT_BYTES_MAX = 10;

/** Leaves its two halves in the cursor; false when the bytes end before, or it has no end. */
function readVarint(bytes: Buffer, cursor: { at: number; high: number; low: number }): boolean {
  let [high, low] = [0, 0];
  for (let index = 0; index < VARINT_BYTES_MAX; index += 1) {
    const byte = bytes[cursor.at];
    if (byte === undefined) return false;
    cursor.at += 1;
    const bits = byte & 0x7f;
    const shift = 7 * index;
    if (shift < 32) low |= bits << shift;
    if (shift > 25) high |= shift < 32 ? bits >>> (32 - shift) : bits << (shift - 32);
    if (byte >= 0x80) continue;
    cursor.high = high >>> 0;
    cursor.low = low >>> 0;
    return true;
  }
  return false;
}
