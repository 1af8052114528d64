// Tells how a stored value is encoded and in which version: JSON, protobuf, CBOR, encrypted, or
// none of these. A value that is not whole to its last byte, or says two things of itself, is none.
import { decodeCbor } from './cbor.ts';
import { countKeys, FieldVersions, fieldOf, topOfJson } from './json.ts';
import { typeOfProtobuf } from './protobuf.ts';

export type Stored = StoredObject | EncryptedValue | UnreadableValue;

export interface StoredObject {
  readonly encoding: 'json' | 'protobuf' | 'cbor';
  readonly apiVersion: string;
  readonly kind: string;
  /** The versions that the entries of its managedFields name; of protobuf they are not read. */
  readonly fieldVersions: readonly string[];
}

/** The version is inside. With KMS, `keyName` is the name of the plugin. */
export interface EncryptedValue {
  readonly encoding: 'encrypted';
  /** As `aescbc:v1`, `kms:v2`. */
  readonly provider: string;
  readonly keyName: string;
}

export interface UnreadableValue {
  readonly encoding: 'unreadable';
  /** Ends the sentence "the value ...". */
  readonly why: string;
}

const PROTOBUF_MAGIC = 'k8s\0';
const ENCRYPTED_MAGIC = 'k8s:enc:';
/** The tag that says "this is CBOR" (RFC 8949, 3.4.6). */
const CBOR_MAGIC = '\u00D9\u00D9\u00F7';
const ENCRYPTED = /^k8s:enc:([^:]{1,64}:v\d+):([^:]{1,253}):/;
/** The longest beginning that any of these rules looks at. */
const HEAD_BYTES = 400;
const [K, CBOR_FIRST] = [0x6b, 0xd9];

/** `whole` is called where `head` is not all of the value, and its end is to be looked at. */
export function encodingOf(head: Uint8Array, whole: () => Uint8Array): Stored {
  const first = head[0];
  if (first === undefined) return unreadable('is empty');
  if (first === K || first === CBOR_FIRST) {
    const text = latin1(head.length > HEAD_BYTES ? head.subarray(0, HEAD_BYTES) : head);
    if (text.startsWith(PROTOBUF_MAGIC)) return protobufType(whole);
    if (text.startsWith(ENCRYPTED_MAGIC)) return encryption(text);
    if (text.startsWith(CBOR_MAGIC)) return cbor(whole);
  }
  if (!isJson(head)) return unreadable('is neither JSON, protobuf, CBOR nor encrypted');
  try {
    const { apiVersion, kind, fieldVersions } = topOfJson(whole());
    return typed('json', apiVersion, kind, fieldVersions);
  } catch (error) {
    return unreadable(`begins like JSON and cannot be read to its end (${reasonOf(error)})`);
  }
}

const OBJECT = 0x7b;
const BLANK_MAX = 0x20;

function isJson(head: Uint8Array): boolean {
  if (head[0] === OBJECT) return true;
  const first = head.findIndex((byte) => byte > BLANK_MAX);
  return first !== -1 && head[first] === OBJECT;
}

/** The content of a value that can be read without its schema: JSON or CBOR. */
export function contentOf(encoding: 'json' | 'cbor', whole: Uint8Array): unknown {
  if (encoding === 'cbor') return decodeCbor(whole);
  const content: unknown = JSON.parse(UTF8.decode(whole));
  if (keysIn(content) === countKeys(whole)) return content;
  throw new Error('it says something twice');
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** JSON.parse keeps one of two equal keys. */
function keysIn(content: unknown): number {
  if (typeof content !== 'object' || content === null) return 0;
  const values: readonly unknown[] = Object.values(content);
  const own = Array.isArray(content) ? 0 : values.length;
  return values.reduce<number>((sum, value) => sum + keysIn(value), own);
}

function cbor(whole: () => Uint8Array): Stored {
  try {
    const content = decodeCbor(whole());
    if (!isObject(content)) return unreadable('is CBOR, no object');
    const odd = Object.keys(content).find((key) => (fieldOf(key) ?? key) !== key);
    if (odd !== undefined) return unreadable(`has ${JSON.stringify(odd)} for its type`);
    const { apiVersion, kind } = content;
    return typed('cbor', textOf(apiVersion), textOf(kind), fieldVersionsIn(content));
  } catch (error) {
    return unreadable(`begins like CBOR and cannot be read to its end (${reasonOf(error)})`);
  }
}

function fieldVersionsIn({ metadata }: Fields): readonly string[] {
  const entries = isObject(metadata) ? metadata['managedFields'] : undefined;
  if (!Array.isArray(entries)) return [];
  const versions = new FieldVersions();
  for (const entry of entries) {
    const version: unknown = isObject(entry) ? entry['apiVersion'] : undefined;
    if (typeof version === 'string') versions.add(version);
  }
  return versions.list;
}

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

function protobufType(whole: () => Uint8Array): Stored {
  const type = typeOfProtobuf(whole());
  if (type === undefined) {
    return unreadable('begins like protobuf, and is not one whole object of the API server');
  }
  return typed('protobuf', type.apiVersion, type.kind, []);
}

function encryption(text: string): Stored {
  const [, provider, keyName] = ENCRYPTED.exec(text) ?? [];
  if (provider !== undefined && keyName !== undefined) {
    return { encoding: 'encrypted', provider, keyName };
  }
  return unreadable('begins like an encrypted one, but names no provider and key');
}

/** `v1`, or `apps/v1`. */
const API_VERSION =
  /^(?:[a-z0-9][a-z0-9.-]*\/)?v[a-z0-9][a-z0-9.-]*$|^(?:[a-z0-9][a-z0-9.-]*\/)?[a-z][a-z0-9-]*$/;

function typed(
  encoding: StoredObject['encoding'],
  apiVersion: string | undefined,
  kind: string | undefined,
  fieldVersions: readonly string[],
): Stored {
  if (apiVersion === undefined || kind === undefined) {
    return unreadable(`is ${encoding.toUpperCase()} without apiVersion and kind`);
  }
  if (API_VERSION.test(apiVersion) && kind !== '') {
    return { encoding, apiVersion, kind, fieldVersions };
  }
  const said = `${JSON.stringify(apiVersion.slice(0, 80))}, ${JSON.stringify(kind.slice(0, 80))}`;
  return unreadable(`has a type that cannot be one (${said})`);
}

const unreadable = (why: string): UnreadableValue => ({ encoding: 'unreadable', why });

const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
