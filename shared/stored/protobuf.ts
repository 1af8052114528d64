// The type of a value that the API server stored as protobuf: `k8s\0`, then a runtime.Unknown whose
// first field holds apiVersion and kind, and whose second one the object. Told only when that fills
// the value to its last byte, and says nothing twice.

export interface StoredType {
  readonly apiVersion: string;
  readonly kind: string;
}

const MAGIC_BYTES = 4;
const LENGTH_DELIMITED = 2;
const TYPE_META = 1;
const RAW = 2;
const CONTENT_TYPE = 4;
const API_VERSION = 1;
const KIND = 2;
/** Ten groups of seven bits hold 64; only four are ever needed for a length here. */
const VARINT_BYTES_MAX = 5;

interface Field {
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

/** Undefined when these bytes are not one whole runtime.Unknown. */
export function typeOfProtobuf(bytes: Uint8Array): StoredType | undefined {
  const unknown = fieldsIn(bytes, MAGIC_BYTES, bytes.length, CONTENT_TYPE);
  const type = unknown?.get(TYPE_META);
  if (type === undefined || unknown?.has(RAW) !== true) return undefined;
  const fields = fieldsIn(bytes, type.start, type.end, KIND);
  if (fields === undefined) return undefined;
  const text = (number: number): string => {
    const { start = 0, end = 0 } = fields.get(number) ?? {};
    return utf8(bytes.subarray(start, end));
  };
  return { apiVersion: text(API_VERSION), kind: text(KIND) };
}

/** As the API server writes them: in the order of their numbers, none twice, to the last byte. */
function fieldsIn(
  bytes: Uint8Array,
  from: number,
  end: number,
  numberMax: number,
): ReadonlyMap<number, Field> | undefined {
  const fields = new Map<number, Field>();
  let last = 0;
  for (let at = from; at < end;) {
    const field = fieldAt(bytes, at, end);
    if (field === undefined || field.number <= last || field.number > numberMax) return undefined;
    fields.set(field.number, field);
    last = field.number;
    at = field.end;
  }
  return fields;
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
