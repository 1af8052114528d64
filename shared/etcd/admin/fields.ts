// Fields of etcd's answers, read one by one: a stranger may answer at the address of a pod, so that
// nothing of another shape, and nothing without bound, is taken for etcd's. In protobuf's JSON
// numbers of 64 bits are texts, bytes are base64, and what is zero or empty is left out.

export type Fields = Readonly<Record<string, unknown>>;

/** The message names the field. */
export class Odd extends Error {}

const UINT64_MAX = 2n ** 64n - 1n;
const INT64_MAX = 2n ** 63n - 1n;
const UINT32_MAX = 2 ** 32 - 1;
const TEXT_MAX = 2_048;

/** An object of JSON, and neither null nor a list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fieldsIn(fields: Fields, name: string): Fields {
  const value = fields[name];
  if (value === undefined) return {};
  if (isFields(value)) return value;
  throw new Odd(name);
}

function wholeNumber(fields: Fields, name: string, max: bigint): bigint {
  const value = fields[name];
  if (value === undefined) return 0n;
  if (typeof value !== 'string' || !/^(?:0|[1-9]\d{0,19})$/.test(value)) throw new Odd(name);
  const number = BigInt(value);
  if (number > max) throw new Odd(name);
  return number;
}

/** An uint64 in decimal; `0` for none. */
export const idIn = (fields: Fields, name: string): string =>
  String(wholeNumber(fields, name, UINT64_MAX));

export const revisionIn = (fields: Fields, name: string): string =>
  String(wholeNumber(fields, name, INT64_MAX));

/** Counted from zero, one by one: it never gets to where numbers lose digits. */
export function countIn(fields: Fields, name: string): number {
  return Number(wholeNumber(fields, name, BigInt(Number.MAX_SAFE_INTEGER)));
}

export function hashIn(fields: Fields, name: string): number {
  const value = fields[name] ?? 0;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= UINT32_MAX) {
    return value;
  }
  throw new Odd(name);
}

export function flagIn(fields: Fields, name: string): boolean {
  const value = fields[name] ?? false;
  if (typeof value === 'boolean') return value;
  throw new Odd(name);
}

/** Names, URLs, versions: without what would break a line or a terminal. */
export const textIn = (fields: Fields, name: string): string => asText(fields[name] ?? '', name);

function asText(value: unknown, name: string): string {
  if (typeof value === 'string' && value.length <= TEXT_MAX && !/\p{Cc}/u.test(value)) return value;
  throw new Odd(name);
}

export function bytesIn(fields: Fields, name: string): Buffer {
  const value = fields[name] ?? '';
  if (typeof value === 'string' && /^[\w+/=-]*$/.test(value)) return Buffer.from(value, 'base64');
  throw new Odd(name);
}

export function listIn<Item>(
  fields: Fields,
  name: string,
  max: number,
  read: (item: Fields) => Item,
): readonly Item[] {
  return itemsIn(fields, name, max).map((item) => {
    if (isFields(item)) return read(item);
    throw new Odd(name);
  });
}

export const textsIn = (fields: Fields, name: string, max: number): readonly string[] =>
  itemsIn(fields, name, max).map((item) => asText(item, name));

function itemsIn(fields: Fields, name: string, max: number): readonly unknown[] {
  const value = fields[name] ?? [];
  if (Array.isArray(value) && value.length <= max) return value;
  throw new Odd(name);
}

/** The member that answered, and the moment of its history. */
export interface EtcdHeader {
  readonly clusterId: string;
  readonly memberId: string;
  /** Undefined in answers about members, which etcd sends without one. */
  readonly revision: string | undefined;
  readonly raftTerm: number;
}

export function headerIn(answer: Fields): EtcdHeader {
  const header = fieldsIn(answer, 'header');
  const clusterId = idIn(header, 'cluster_id');
  const memberId = idIn(header, 'member_id');
  if (clusterId === '0' || memberId === '0') throw new Odd('header');
  const revision = revisionIn(header, 'revision');
  const raftTerm = countIn(header, 'raft_term');
  return { clusterId, memberId, revision: revision === '0' ? undefined : revision, raftTerm };
}
