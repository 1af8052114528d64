// Tells from the first bytes of a stored value how it is encoded and in which version, as far as
// that can be told: JSON, protobuf, CBOR, encrypted, or none of these.
import { decodeCbor } from './cbor.ts';
import { typeOfProtobuf } from './protobuf.ts';

export type Stored = StoredObject | EncryptedValue | UnreadableValue;

export interface StoredObject {
  readonly encoding: 'json' | 'protobuf' | 'cbor';
  readonly apiVersion: string;
  readonly kind: string;
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
const FIELD = String.raw`\s*"(apiVersion|kind)"\s*:\s*"([^"\\]*)"\s*`;
const OPENING = new RegExp(String.raw`^\s*\{${FIELD},${FIELD}[,}]`);
/** The longest beginning that any of the rules above looks at. */
const LOOK_BYTES = 400;

/** `whole` is called only where `head` does not tell. */
export function encodingOf(head: Uint8Array, whole: () => Uint8Array): Stored {
  const text = latin1(head.length > LOOK_BYTES ? head.subarray(0, LOOK_BYTES) : head);
  if (text.startsWith(PROTOBUF_MAGIC)) return protobufType(head, whole);
  if (text.startsWith(ENCRYPTED_MAGIC)) return encryption(text);
  if (text.startsWith(CBOR_MAGIC)) return decoded('cbor', whole);
  const opening = OPENING.exec(text);
  if (opening !== null && opening[1] !== opening[3] && isAscii(text)) {
    const [, first, one = '', , other = ''] = opening;
    const [apiVersion, kind] = first === 'apiVersion' ? [one, other] : [other, one];
    return typed('json', apiVersion, kind);
  }
  if (/^\s*\{/.test(text)) return decoded('json', whole);
  return unreadable(text === '' ? 'is empty' : 'is neither JSON, protobuf, CBOR nor encrypted');
}

/** What a value holds when it is an object that can be read without its schema: JSON or CBOR. */
export function contentOf(encoding: 'json' | 'cbor', whole: Uint8Array): unknown {
  if (encoding === 'cbor') return decodeCbor(whole);
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(whole));
}

function decoded(encoding: 'json' | 'cbor', whole: () => Uint8Array): Stored {
  const name = encoding === 'json' ? 'JSON' : 'CBOR';
  let content: unknown;
  try {
    content = contentOf(encoding, whole());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return unreadable(`begins like ${name} and cannot be read to its end (${why})`);
  }
  if (typeof content !== 'object' || content === null) return unreadable(`is ${name}, no object`);
  const { apiVersion, kind }: { apiVersion?: unknown; kind?: unknown } = content;
  if (typeof apiVersion === 'string' && typeof kind === 'string') {
    return typed(encoding, apiVersion, kind);
  }
  return unreadable(`is ${name} without apiVersion and kind`);
}

function protobufType(head: Uint8Array, whole: () => Uint8Array): Stored {
  const type = typeOfProtobuf(head) ?? typeOfProtobuf(whole());
  if (type === undefined) return unreadable('begins like protobuf, but its type cannot be read');
  return typed('protobuf', type.apiVersion, type.kind);
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

function typed(encoding: StoredObject['encoding'], apiVersion: string, kind: string): Stored {
  if (API_VERSION.test(apiVersion) && kind !== '') return { encoding, apiVersion, kind };
  const said = `${JSON.stringify(apiVersion.slice(0, 80))}, ${JSON.stringify(kind.slice(0, 80))}`;
  return unreadable(`has a type that cannot be one (${said})`);
}

const unreadable = (why: string): UnreadableValue => ({ encoding: 'unreadable', why });

const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');

// oxlint-disable-next-line no-control-regex -- the whole of ASCII is meant
const isAscii = (text: string): boolean => /^[\0-\x7F]*$/.test(text);
