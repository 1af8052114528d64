// The type in front of a value that the API server stored as protobuf: `k8s\0`, then a
// runtime.Unknown whose first field holds apiVersion and kind.

export interface StoredType {
  readonly apiVersion: string;
  readonly kind: string;
}

const MAGIC_BYTES = 4;
const LENGTH_DELIMITED = 2;
const TYPE_META = 1;
const API_VERSION = 1;
const KIND = 2;
/** Ten groups of seven bits hold 64; only four are ever needed for a length here. */
const VARINT_BYTES_MAX = 5;

interface Field {
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

/** Undefined when these bytes end before the type does, or are no runtime.Unknown. */
export function typeOfProtobuf(bytes: Uint8Array): StoredType | undefined {
  const unknown = fieldAt(bytes, MAGIC_BYTES, bytes.length);
  if (unknown?.number !== TYPE_META) return undefined;
  let apiVersion = '';
  let kind = '';
  for (let at = unknown.start; at < unknown.end;) {
    const field = fieldAt(bytes, at, unknown.end);
    if (field === undefined) return undefined;
    const text = utf8(bytes.subarray(field.start, field.end));
    if (field.number === API_VERSION) apiVersion = text;
    if (field.number === KIND) kind = text;
    at = field.end;
  }
  return { apiVersion, kind };
}

/** A field of bytes; nothing else can stand where a type is told. */
function fieldAt(bytes: Uint8Array, at: number, limit: number): Field | undefined {
  const tag = varint(bytes, at);
  if (tag === undefined || (tag.value & 7) !== LENGTH_DELIMITED) return undefined;
  const length = varint(bytes, tag.end);
  if (length === undefined || length.end + length.value > limit) return undefined;
  return { number: tag.value >> 3, start: length.end, end: length.end + length.value };
}

function varint(bytes: Uint8Array, at: number): { value: number; end: number } | undefined {
  let value = 0;
  for (let index = 0; index < VARINT_BYTES_MAX; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, end: at + index + 1 };
  }
  return undefined;
}

const utf8 = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
