// Where a JSON value ends that begins at a byte, by RFC 8259 to the letter; what is none throws. It
// is asked about every byte of every value in etcd, so positions are numbers and nothing is made.

export const QUOTE = 0x22;
export const OBJECT = 0x7b;
export const ARRAY = 0x5b;
const [COMMA, COLON, BACKSLASH] = [0x2c, 0x3a, 0x5c];
const [OBJECT_END, ARRAY_END] = [0x7d, 0x5d];
const [MINUS, PLUS, DOT, ZERO, NINE] = [0x2d, 0x2b, 0x2e, 0x30, 0x39];
const [SMALL_E, LARGE_E, SMALL_U] = [0x65, 0x45, 0x75];

/** Go's decoder goes no deeper. */
const DEPTH_MAX = 10_000;
/** Closing characters of the objects and arrays around a value; one value is read at a time. */
const OPEN = new Uint8Array(DEPTH_MAX);

const BLANK_MAX = 0x20;
const BLANK = new Uint8Array(256);
for (const byte of Buffer.from(' \t\n\r')) BLANK[byte] = 1;
const ESCAPED: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));
const HEX: ReadonlySet<number> = new Set(Buffer.from('0123456789abcdefABCDEF'));
/** 1 for what stands for itself in a text: Go takes any byte above ASCII. */
const PLAIN = new Uint8Array(256).fill(1, BLANK_MAX);
PLAIN[QUOTE] = 0;
PLAIN[BACKSLASH] = 0;
const WORDS = new Map(['true', 'false', 'null'].map((word) => [word.codePointAt(0), word]));

export function afterBlanks(bytes: Uint8Array, from: number): number {
  let at = from;
  while (BLANK[bytes[at] ?? 0] === 1) at += 1;
  return at;
}

/** `onMember` is told where a key and its value begin, and tells where the value ends. */
export function membersEnd(
  bytes: Uint8Array,
  from: number,
  onMember: (keyAt: number, valueAt: number) => number,
): number {
  let at = past(bytes, from, OBJECT);
  if (bytes[at] === OBJECT_END) return at + 1;
  for (;;) {
    at = afterBlanks(bytes, onMember(at, keyEnd(bytes, at)));
    if (bytes[at] !== COMMA) break;
    at = afterBlanks(bytes, at + 1);
  }
  return endAt(bytes, at, OBJECT_END);
}

export function itemsEnd(
  bytes: Uint8Array,
  from: number,
  onItem: (itemAt: number) => number,
): number {
  let at = past(bytes, from, ARRAY);
  if (bytes[at] === ARRAY_END) return at + 1;
  for (;;) {
    at = afterBlanks(bytes, onItem(at));
    if (bytes[at] !== COMMA) break;
    at = afterBlanks(bytes, at + 1);
  }
  return endAt(bytes, at, ARRAY_END);
}

/** Any value, however deep, from its first byte. */
export function valueEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  let depth = 0;
  do {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = textEnd(bytes, at);
    else if (byte === OBJECT || byte === ARRAY) {
      const end = byte + 2;
      at = afterBlanks(bytes, at + 1);
      if (bytes[at] === end) at += 1;
      else {
        if (depth === DEPTH_MAX) throw new Error(`it nests deeper than ${DEPTH_MAX}`);
        OPEN[depth] = end;
        depth += 1;
        if (byte === OBJECT) at = keyEnd(bytes, at);
        continue;
      }
    } else at = scalarEnd(bytes, at);
    // Past a comma to where the next value begins, or behind all that ends here.
    while (depth > 0) {
      at = afterBlanks(bytes, at);
      const end = OPEN[depth - 1];
      const next = bytes[at];
      if (next === COMMA) {
        at = afterBlanks(bytes, at + 1);
        if (end === OBJECT_END) at = keyEnd(bytes, at);
        break;
      }
      if (next !== end) throw fault(bytes, at, 'behind a value');
      at += 1;
      depth -= 1;
    }
  } while (depth > 0);
  return at;
}

/** Where its value begins. */
function keyEnd(bytes: Uint8Array, from: number): number {
  return past(bytes, afterBlanks(bytes, textEnd(bytes, from)), COLON);
}

/** From the quote before it to behind the one after it. */
export function textEnd(bytes: Uint8Array, from: number): number {
  if (bytes[from] !== QUOTE) throw fault(bytes, from, 'where a text begins');
  let at = from + 1;
  for (;;) {
    let byte = bytes[at] ?? 0;
    while (PLAIN[byte] === 1) {
      at += 1;
      byte = bytes[at] ?? 0;
    }
    if (byte === QUOTE) return at + 1;
    if (byte !== BACKSLASH) throw fault(bytes, at, 'within a text');
    at = escapeEnd(bytes, at + 1);
  }
}

function escapeEnd(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] ?? 0;
  if (ESCAPED.has(byte)) return at + 1;
  const isCode = byte === SMALL_U && [1, 2, 3, 4].every((step) => HEX.has(bytes[at + step] ?? 0));
  if (!isCode) throw fault(bytes, at, 'within a text');
  return at + 5;
}

/** A number, true, false or null. */
function scalarEnd(bytes: Uint8Array, from: number): number {
  const first = bytes[from] ?? 0;
  const word = first > NINE ? WORDS.get(first) : undefined;
  if (word !== undefined) {
    for (let index = 1; index < word.length; index += 1) {
      if (bytes[from + index] !== word.codePointAt(index)) {
        throw fault(bytes, from + index, `where ${word} is to be`);
      }
    }
    return from + word.length;
  }
  let at = first === MINUS ? from + 1 : from;
  at = bytes[at] === ZERO ? at + 1 : digitsEnd(bytes, at);
  if (bytes[at] === DOT) at = digitsEnd(bytes, at + 1);
  if (bytes[at] === SMALL_E || bytes[at] === LARGE_E) {
    const isSigned = bytes[at + 1] === MINUS || bytes[at + 1] === PLUS;
    at = digitsEnd(bytes, at + (isSigned ? 2 : 1));
  }
  return at;
}

/** At least one has to be. */
function digitsEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  for (;;) {
    const byte = bytes[at] ?? 0;
    if (byte < ZERO || byte > NINE) break;
    at += 1;
  }
  if (at === from) throw fault(bytes, at, 'where a value is to be');
  return at;
}

const past = (bytes: Uint8Array, at: number, wanted: number): number =>
  afterBlanks(bytes, endAt(bytes, at, wanted));

function endAt(bytes: Uint8Array, at: number, wanted: number): number {
  if (bytes[at] === wanted) return at + 1;
  throw fault(bytes, at, `where ${String.fromCodePoint(wanted)} is to be`);
}

export function fault(bytes: Uint8Array, at: number, where: string): Error {
  const byte = bytes[at];
  if (byte === undefined) return new Error('it ends before the object does');
  return new Error(`byte ${at} is 0x${byte.toString(16).padStart(2, '0')} ${where}`);
}
