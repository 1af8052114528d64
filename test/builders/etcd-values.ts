// Reads the stored objects of a custom resource past the API server, through etcd's own HTTP
// gateway: only there is the version told in which each one is stored.
import type { PlaneAddress } from '../../knative/try/local/plane/address.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';

interface RangeAnswer {
  readonly header: { readonly revision: string };
  readonly kvs?: readonly { readonly key: string; readonly value: string }[];
}

/** The key without its prefix, and the value. */
type Stored = readonly [name: string, value: string];

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const fromBase64 = (text: string): string => Buffer.from(text, 'base64').toString();
const prefixOf = (group: string, resource: string): string =>
  group === '' ? `/registry/${resource}/` : `/registry/${group}/${resource}/`;

/** The objects as they are stored, by `namespace/name`. */
export async function storedObjects(
  plane: PlaneAddress,
  group: string,
  resource: string,
): Promise<ReadonlyMap<string, KubeObject>> {
  const all = await under(plane, prefixOf(group, resource));
  return new Map(all.map(([name, value]) => [name, JSON.parse(value) as KubeObject]));
}

/** The bytes, as far as they are text, in the order of the names. */
export async function storedValues(
  plane: PlaneAddress,
  resource: string,
): Promise<readonly string[]> {
  return (await under(plane, prefixOf('', resource))).map(([, value]) => value);
}

/** One object as it is stored; `name` is `namespace/name`. */
export async function storedObject(
  plane: PlaneAddress,
  group: string,
  resource: string,
  name: string,
): Promise<KubeObject | undefined> {
  const prefix = prefixOf(group, resource);
  const [found] = await range(plane, prefix, { key: `${prefix}${name}` });
  return found === undefined ? undefined : (JSON.parse(found[1]) as KubeObject);
}

// "0" is what follows "/": the range ends where the prefix does.
const under = (plane: PlaneAddress, prefix: string): Promise<readonly Stored[]> =>
  range(plane, prefix, { key: prefix, range_end: prefix.replace(/\/$/, '0') });

/** Past the API server, as one of an older configuration would store it. */
export async function putStored(
  plane: PlaneAddress,
  group: string,
  resource: string,
  name: string,
  object: unknown,
): Promise<void> {
  const key = base64(`${prefixOf(group, resource)}${name}`);
  const body = JSON.stringify({ key, value: base64(JSON.stringify(object)) });
  const answer = await fetch(`${plane.part('etcd').url}/v3/kv/put`, { method: 'POST', body });
  if (!answer.ok) throw new Error(`etcd answered ${answer.status}: ${await answer.text()}`);
}

async function range(
  plane: PlaneAddress,
  prefix: string,
  keys: Readonly<Record<string, string>>,
): Promise<readonly Stored[]> {
  const encoded = Object.entries(keys).map(([field, key]) => [field, base64(key)] as const);
  const body = Object.fromEntries(encoded);
  const { kvs = [] } = (await ask(plane, 'range', body)) as RangeAnswer;
  return kvs.map(({ key, value }) => [fromBase64(key).slice(prefix.length), fromBase64(value)]);
}

/** How many objects are stored in each version. */
export async function countStored(
  plane: PlaneAddress,
  group: string,
  resource: string,
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const { apiVersion } of (await storedObjects(plane, group, resource)).values()) {
    const version = apiVersion.split('/')[1] ?? '';
    counts[version] = (counts[version] ?? 0) + 1;
  }
  return counts;
}

/** Each state that was stored after this revision, also one that the next write took away. */
export async function storedSince(
  plane: PlaneAddress,
  group: string,
  resource: string,
  since: number,
): Promise<readonly KubeObject[]> {
  const prefix = prefixOf(group, resource);
  const keys = { key: base64(prefix), range_end: base64(prefix.replace(/\/$/, '0')) };
  const states: KubeObject[] = [];
  const last = await revisionNow(plane);
  for (let revision = since + 1; revision <= last; revision += 1) {
    const body = { ...keys, revision, min_mod_revision: revision };
    const { kvs = [] } = (await ask(plane, 'range', body)) as RangeAnswer;
    for (const { value } of kvs) states.push(JSON.parse(fromBase64(value)) as KubeObject);
  }
  return states;
}

export async function revisionNow(plane: PlaneAddress): Promise<number> {
  const { header } = (await ask(plane, 'range', { key: base64('/') })) as RangeAnswer;
  return Number(header.revision);
}

/** Whatever was before now etcd forgets. */
export async function compact(plane: PlaneAddress): Promise<void> {
  await ask(plane, 'compaction', { revision: await revisionNow(plane), physical: true });
}

async function ask(plane: PlaneAddress, method: string, body: object): Promise<unknown> {
  const url = `${plane.part('etcd').url}/v3/kv/${method}`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`etcd answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
