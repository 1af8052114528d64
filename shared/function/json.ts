// Bytes to text to JSON with the checks that JSON.parse and Buffer leave out: bad UTF-8 is
// refused instead of replaced, and nesting that would exhaust a recursive reader is refused
// before anything is built.
import { isUtf8 } from 'node:buffer';
import { Failure } from '../errors.ts';

/**
 * Ten thousand frames fit on node's stack; the deepest schema in a CRD that we saw nests below a
 * hundred.
 */
const JSON_DEPTH_MAX = 1_000;

/** Memory of an empty object, with its place in a list: no other two bytes of text need more. */
const VALUE_BYTES = 64;

const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const BYTE_ORDER_MARK = 0xfeff;

export function decodeText(bytes: Buffer, field: string): string {
  if (!isUtf8(bytes)) {
    throw new Failure('BODY_NOT_UTF8', `The ${field} is not valid UTF-8; send it as UTF-8.`, {
      field,
    });
  }
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}

/** Estimates how much memory a text will take before it is parsed; throws when that is too much. */
export type Weigh = (sizeBytes: number) => void;

export function decodeJson(bytes: Buffer, field: string, weigh?: Weigh): unknown {
  const text = decodeText(bytes, field);
  // A document needs an opening and a closing byte per level: most events are too short to be too
  // deep.
  if (bytes.length > JSON_DEPTH_MAX * 2) {
    const { depth, values } = shapeOf(bytes);
    if (depth > JSON_DEPTH_MAX) {
      const message = `The ${field} nests deeper than ${JSON_DEPTH_MAX} levels; send it flatter.`;
      throw new Failure('BODY_TOO_DEEP', message, { field });
    }
    weigh?.(values * VALUE_BYTES);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    // Not kept as the cause: V8 quotes the text around the mistake, and a payload must not travel
    // into answers and logs that way.
    throw new Failure('BODY_NOT_JSON', `The ${field} is not JSON: ${reasonOf(cause)}.`, { field });
  }
}

/** Where the mistake is, without a character of the text. */
function reasonOf(cause: unknown): string {
  const place = /at position \d+|Unexpected end/.exec(cause instanceof Error ? cause.message : '');
  return place === null
    ? 'it does not follow the grammar'
    : `the mistake is ${describePlace(place[0])}`;
}

const describePlace = (place: string): string =>
  place.startsWith('at') ? place : 'that it ends too early';

function shapeOf(bytes: Buffer): { readonly depth: number; readonly values: number } {
  let values = 1;
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (isInString) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      values += 1;
      if (depth > deepest) deepest = depth;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
    else if (byte === COMMA) values += 1;
  }
  return { depth: deepest, values };
}
