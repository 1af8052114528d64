// An object as an answer shows it: its message in the feed with its owner chain, the services that
// send to it, and its node.
import type { OwnerMessage } from '../../shared/feed/messages.ts';
import type { Catalog } from '../../shared/nats/replica/catalog.ts';
import type { Entry } from '../../shared/nats/replica/entry.ts';
import { COUNT, STRING, type Schema, listOf, record } from './schema.ts';

export interface Described {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly node?: { readonly name: string; readonly ips?: readonly string[] };
  readonly owners: readonly OwnerMessage[];
  readonly services?: readonly string[];
  readonly [field: string]: unknown;
}

const OWNER = record({ kind: STRING, name: STRING, uid: STRING });
const ANYTHING: Schema = {};

export const DESCRIBED = record({
  kind: STRING,
  'namespace?': STRING,
  name: STRING,
  uid: STRING,
  resourceVersion: { ...STRING, description: 'of its last change that shows in the feed' },
  'created?': STRING,
  'labels?': { type: 'object', additionalProperties: STRING },
  'annotations?': { type: 'object', additionalProperties: STRING },
  owners: { ...listOf(OWNER), description: 'its controller, that one’s, and so on up' },
  'services?': { ...listOf(STRING), description: 'of a pod: in its namespace, that send to it' },
  'node?': record({ name: STRING, 'ips?': listOf(STRING) }),
  'phase?': STRING,
  'ready?': { type: 'boolean' },
  'reason?': STRING,
  'hostNetwork?': { type: 'boolean' },
  'ips?': listOf(STRING),
  'containers?': listOf({
    ...record({
      name: STRING,
      image: STRING,
      'id?': STRING,
      'state?': STRING,
      'reason?': STRING,
      'ready?': { type: 'boolean' },
      'restarts?': COUNT,
      'role?': STRING,
    }),
  }),
  'ports?': listOf({ type: 'object' }),
  'selector?': { type: 'object', additionalProperties: STRING },
  'service?': STRING,
  'addressType?': STRING,
  'endpoints?': listOf({ type: 'object' }),
  'nodes?': listOf(STRING),
  'desired?': COUNT,
  'fields?': { type: 'object', additionalProperties: ANYTHING },
});

export function describe(catalog: Catalog, entry: Entry): Described {
  const { epoch: _epoch, owner: _owner, node, ...object } = entry.object;
  const isPod = entry.key.resource === 'pods';
  return {
    ...object,
    owners: ownersOf(catalog, entry),
    ...(isPod ? { services: catalog.servicesOf(entry).map(({ key }) => key.name) } : {}),
    ...(node === undefined ? {} : { node: nodeOf(catalog, node) }),
  };
}

/** The last owner may be of a kind that the feed does not hold: it is named all the same. */
function ownersOf(catalog: Catalog, entry: Entry): readonly OwnerMessage[] {
  const held = catalog.ownersOf(entry);
  const owners = held.map(({ object: { kind, name, uid } }) => ({ kind, name, uid }));
  const last = (held.at(-1) ?? entry).object.owner;
  const isNew = owners.every(({ uid }) => uid !== last?.uid) && last?.uid !== entry.object.uid;
  return last !== undefined && isNew ? [...owners, last] : owners;
}

function nodeOf(catalog: Catalog, name: string): Described['node'] & object {
  const node = catalog.find({ resource: 'nodes', namespace: '', name });
  const ips = node?.object.ips;
  return ips === undefined ? { name } : { name, ips };
}

export const titleOf = ({ key: { namespace, name }, object: { kind } }: Entry): string =>
  `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`;

/** One line of a table. */
export function rowOf(described: Described): Readonly<Record<string, unknown>> {
  const { kind, namespace, name, node, owners, services, phase } = described;
  return {
    kind,
    namespace,
    name,
    phase,
    node: node?.name,
    owner: ownersText(owners),
    services,
  };
}

/** Everything, one line each. */
export function linesOf(described: Described): Readonly<Record<string, unknown>> {
  const { node, owners, labels, annotations, selector, ...others } = described;
  const pairs = { labels, annotations, selector };
  const lines = Object.entries(pairs).map(([name, value]) => [name, pairsText(value)] as const);
  return {
    ...others,
    ...Object.fromEntries(lines.filter(([, text]) => text !== undefined)),
    ...(node === undefined ? {} : { node: node.name }),
    owners: ownersText(owners),
  };
}

const ownersText = (owners: readonly OwnerMessage[]): string =>
  owners.map(({ kind, name }) => `${kind}/${name}`).join(' < ');

function pairsText(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value)
    .map(([name, text]) => `${name}=${String(text)}`)
    .join(', ');
}
