// CRC-32C, as etcd hashes its keys with, of bytes that come from the last to the first: what is
// read later is put before what was read already. Pure.

/** Castagnoli's polynomial, its bits turned around. */
const POLYNOMIAL = 0x82f63b78;
const SLICES = 8;
const WORD_BYTES = 4;
const NONE = new Int32Array(0);
const TABLE = makeTable();

const ONE = 1 << 31;
/** x^(2^n) for each bit of a length in bits. */
const SQUARES = makeSquares();
/** As many bytes as the squares above reach. */
const LENGTH_MAX = 2 ** 28;

/**
 * Goes on from the checksum of the bytes before, 0 for none. Words are read as this machine has
 * them: the low byte first, as on every machine that Node has been built for in a decade.
 */
export function crc32c(before: number, bytes: Uint8Array): number {
  let crc = ~before;
  let at = 0;
  const { length, buffer, byteOffset } = bytes;
  for (; at < length && (byteOffset + at) % WORD_BYTES !== 0; at += 1) {
    crc = (TABLE[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
  }
  const pairs = Math.floor((length - at) / SLICES);
  const words = pairs === 0 ? NONE : new Int32Array(buffer, byteOffset + at, 2 * pairs);
  for (let index = 0; index < words.length; index += 2) {
    const low = crc ^ (words[index] ?? 0);
    const high = words[index + 1] ?? 0;
    crc =
      (TABLE[1792 + (low & 0xff)] ?? 0) ^
      (TABLE[1536 + ((low >>> 8) & 0xff)] ?? 0) ^
      (TABLE[1280 + ((low >>> 16) & 0xff)] ?? 0) ^
      (TABLE[1024 + (low >>> 24)] ?? 0) ^
      (TABLE[768 + (high & 0xff)] ?? 0) ^
      (TABLE[512 + ((high >>> 8) & 0xff)] ?? 0) ^
      (TABLE[256 + ((high >>> 16) & 0xff)] ?? 0) ^
      (TABLE[high >>> 24] ?? 0);
  }
  for (at += words.byteLength; at < length; at += 1) {
    crc = (TABLE[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}

/** The checksum of bytes that grow at their beginning. */
export class Crc32cFromEnd {
  #crc = 0;
  /** x to the number of bits so far: it moves what comes before them to its place. */
  #shift = ONE;

  prepend(crc: number, sizeBytes: number): void {
    if (sizeBytes > LENGTH_MAX) throw new Error(`${sizeBytes} bytes are more than a piece may be`);
    this.#crc ^= product(crc, this.#shift);
    this.#shift = product(this.#shift, powerOf(sizeBytes));
  }

  get value(): number {
    return this.#crc >>> 0;
  }
}

/** x to the number of bits in so many bytes. */
function powerOf(sizeBytes: number): number {
  let power = ONE;
  for (let rest = sizeBytes, bit = 3; rest > 0; rest >>>= 1, bit += 1) {
    if ((rest & 1) === 1) power = product(power, SQUARES[bit] ?? 0);
  }
  return power;
}

/** Multiplies two polynomials, modulo that of the checksum. */
function product(one: number, other: number): number {
  let [sum, shifted] = [0, other];
  for (let mask = ONE; mask !== 0; mask >>>= 1) {
    if ((one & mask) !== 0) sum ^= shifted;
    shifted = (shifted & 1) === 1 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1;
  }
  return sum;
}

function makeSquares(): Int32Array {
  const squares = new Int32Array(32);
  squares[0] = 1 << 30;
  for (let bit = 1; bit < 32; bit += 1) {
    const root = squares[bit - 1] ?? 0;
    squares[bit] = product(root, root);
  }
  return squares;
}

/** The checksum of each byte with so many zero bytes behind it, table after table. */
function makeTable(): Int32Array {
  const table = new Int32Array(256 * SLICES);
  for (let byte = 0; byte < 256; byte += 1) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc & 1) === 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    }
    table[byte] = crc;
  }
  for (let at = 256; at < table.length; at += 1) {
    const before = table[at - 256] ?? 0;
    table[at] = (table[before & 0xff] ?? 0) ^ (before >>> 8);
  }
  return table;
}
