// The type of a stored JSON value, told only when all of it is one JSON object (RFC 8259) with one
// apiVersion and one kind at its top: what is cut off, goes on, or says them twice is something
// else to each decoder. One pass over the bytes, which makes nothing of what it passes by.
import {
  afterBlanks,
  ARRAY,
  fault,
  itemsEnd,
  membersEnd,
  OBJECT,
  QUOTE,
  textEnd,
  valueEnd,
} from './json-bytes.ts';

export interface JsonTop {
  /** Undefined when they are not there, or no text. */
  readonly apiVersion: string | undefined;
  readonly kind: string | undefined;
  /** The versions that the entries of metadata.managedFields name, each once. */
  readonly fieldVersions: readonly string[];
}

const COLON = 0x3a;
const BACKSLASH = 0x5c;
const ASCII_MAX = 0x7f;
const NONE: readonly string[] = [];
/** A kind has a handful in all its life; whoever sends a snapshot may have made more of them up. */
const FIELD_VERSIONS_MAX = 100;

/** Throws when the bytes are no JSON object, or name their type twice. */
export function topOfJson(bytes: Uint8Array): JsonTop {
  const said: { apiVersion?: string | undefined; kind?: string | undefined } = {};
  let fieldVersions = NONE;
  const end = membersEnd(bytes, afterBlanks(bytes, 0), (keyAt, at) => {
    const key = textAt(bytes, keyAt) ?? '';
    if (key === 'metadata') {
      const metadata = metadataAt(bytes, at);
      fieldVersions = metadata.versions;
      return metadata.end;
    }
    const field = fieldOf(key);
    if (field === undefined) return valueEnd(bytes, at);
    if (field in said) throw new Error(`it says its ${field} twice`);
    // Go takes it for the field, and kubectl does not.
    if (key !== field) throw new Error(`it has ${JSON.stringify(key)} for its ${field}`);
    said[field] = textAt(bytes, at);
    return valueEnd(bytes, at);
  });
  const rest = afterBlanks(bytes, end);
  if (rest !== bytes.length) throw fault(bytes, rest, 'after its end');
  return { apiVersion: said.apiVersion, kind: said.kind, fieldVersions };
}

/** Keys of all objects in a JSON value. */
export function countKeys(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.length;) {
    if (bytes[at] === COLON) count += 1;
    at = bytes[at] === QUOTE ? textEnd(bytes, at) : at + 1;
  }
  return count;
}

interface Metadata {
  readonly end: number;
  readonly versions: readonly string[];
}

function metadataAt(bytes: Uint8Array, from: number): Metadata {
  if (bytes[from] !== OBJECT) return { end: valueEnd(bytes, from), versions: NONE };
  const versions = new FieldVersions();
  const end = membersEnd(bytes, from, (keyAt, at) => {
    const isIt = bytes[at] === ARRAY && textAt(bytes, keyAt) === 'managedFields';
    if (!isIt) return valueEnd(bytes, at);
    return itemsEnd(bytes, at, (entryAt) => entryEnd(bytes, entryAt, versions));
  });
  return { end, versions: versions.list };
}

function entryEnd(bytes: Uint8Array, from: number, versions: FieldVersions): number {
  if (bytes[from] !== OBJECT) return valueEnd(bytes, from);
  return membersEnd(bytes, from, (keyAt, at) => {
    const end = valueEnd(bytes, at);
    if (textAt(bytes, keyAt) === 'apiVersion') {
      const version = textAt(bytes, at);
      if (version !== undefined) versions.add(version);
    }
    return end;
  });
}

/** Each once; throws when there are more than any object names. */
export class FieldVersions {
  readonly #versions = new Set<string>();

  get list(): readonly string[] {
    return this.#versions.size === 0 ? NONE : [...this.#versions];
  }

  add(version: string): void {
    this.#versions.add(version);
    if (this.#versions.size <= FIELD_VERSIONS_MAX) return;
    throw new Error(`its managedFields name more than ${FIELD_VERSIONS_MAX} versions`);
  }
}

/** The text of a JSON string; undefined when it is none. */
function textAt(bytes: Uint8Array, at: number): string | undefined {
  if (bytes[at] !== QUOTE) return undefined;
  const end = textEnd(bytes, at);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at);
  const isPlain = !text.some((byte) => byte === BACKSLASH || byte > ASCII_MAX);
  if (isPlain) return text.toString('latin1', 1, text.length - 1);
  const said: unknown = JSON.parse(text.toString('utf8'));
  return String(said);
}

/**
 * Which of the two fields a key is to the API server: encoding/json does not look at its case, nor
 * at whether its letters are those that fold to ours.
 */
export function fieldOf(key: string): 'apiVersion' | 'kind' | undefined {
  if (key.length !== 'apiVersion'.length && key.length !== 'kind'.length) return undefined;
  const folded = key.toUpperCase().toLowerCase();
  return folded === 'kind' ? 'kind' : folded === 'apiversion' ? 'apiVersion' : undefined;
}
