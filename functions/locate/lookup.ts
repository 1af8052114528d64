// `/pod` and `/hydrate`: look up the object behind an address, a uid, a container's id or a name,
// one or a thousand at a time.
import type { Entry } from '../../shared/nats/replica/entry.ts';
import { type Query, invalid, parseOne } from './query.ts';
import { DESCRIBED, type Described, describe, linesOf, rowOf, titleOf } from './describe.ts';
import { type Search, notFound } from './not-found.ts';
import {
  CONTAINER,
  IP,
  POD_NAME,
  type Name,
  UID,
  parseId,
  parseIp,
  parseName,
} from './parameters.ts';
import type { QueryRoute, Observation } from './query-route.ts';
import { STRING, listOf, record } from './schema.ts';

/** The answers of so many fit into a few megabytes and a few hundredths of a second. */
const HYDRATE_MAX = 1_000;
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

type Lookup = (observation: Observation) => readonly Entry[];

const byUid =
  (uid: string): Lookup =>
  ({ catalog }) =>
    catalog.byUid(uid);
const byIp =
  (ip: string): Lookup =>
  ({ catalog }) =>
    catalog.byIp(ip);
const byContainer =
  (id: string): Lookup =>
  ({ catalog }) =>
    present(catalog.byContainer(id));
const byName =
  (name: Name): Lookup =>
  ({ catalog }) =>
    present(catalog.find({ resource: 'pods', ...name }));

const present = (entry: Entry | undefined): readonly Entry[] =>
  entry === undefined ? [] : [entry];

export const POD: QueryRoute = {
  method: 'GET',
  path: '/pod',
  summary: 'what a uid, an address, a container or a name stands for',
  choice: [UID, IP, CONTAINER, POD_NAME],
  isSearch: true,
  answers: record({
    object: DESCRIBED,
    'alsoThere?': {
      ...listOf(STRING),
      description: 'who shares the address: pods on the network of their node, pods that are done',
    },
  }),
  answer: (query, observation) => {
    const { lookup, search } = lookupFor(query);
    const [first, ...others] = lookup(observation);
    if (first === undefined) throw notFound(search, observation);
    const object = describe(observation.catalog, first);
    const alsoThere = query.get(IP) === undefined ? [] : others.map((entry) => titleOf(entry));
    const more = alsoThere.length === 0 ? {} : { alsoThere };
    return { body: { object, ...more }, shown: { ...linesOf(object), ...more } };
  },
};

function lookupFor(query: Query): { readonly lookup: Lookup; readonly search: Search } {
  const uid = query.get(UID);
  if (uid !== undefined) {
    return { lookup: byUid(uid), search: { subject: `object with uid ${uid}`, field: UID.name } };
  }
  const ip = query.get(IP);
  if (ip !== undefined) {
    const hint = 'GET /who says who had it before.';
    const search = { subject: `object with address ${ip}`, field: IP.name, hint };
    return { lookup: byIp(ip), search };
  }
  const id = query.get(CONTAINER);
  if (id !== undefined) {
    const among = { resource: 'pods' };
    const search = { subject: `container ${id}`, field: CONTAINER.name, among };
    return { lookup: byContainer(id), search };
  }
  const { namespace = '', name = '' } = query.get(POD_NAME) ?? {};
  const among = { resource: 'pods', namespace };
  const search = { subject: `pod ${namespace}/${name}`, field: POD_NAME.name, among };
  return { lookup: byName({ namespace, name }), search };
}

/** The lists that a batch may hold, by name. */
const LISTS: Readonly<Record<string, (text: string) => Lookup>> = {
  ips: (text) => byIp(parseIp(text)),
  uids: (text) => byUid(parseId(text)),
  containers: (text) => byContainer(parseId(text)),
  names: (text) => byName(parseName(text)),
};

interface Item {
  readonly list: string;
  readonly value: string;
  readonly lookup: Lookup;
}

const LISTED = Object.keys(LISTS).map((list) => [`${list}?`, listOf(STRING)] as const);
const MENTIONED = { list: STRING, value: STRING };

export const HYDRATE: QueryRoute = {
  method: 'POST',
  path: '/hydrate',
  summary: `what up to ${HYDRATE_MAX} addresses, uids, containers and names stand for`,
  body: {
    ...record(Object.fromEntries(LISTED)),
    description: `at least one and at most ${HYDRATE_MAX} in all`,
  },
  answers: record({
    found: listOf(record({ ...MENTIONED, object: DESCRIBED })),
    missing: listOf(record(MENTIONED)),
  }),
  answer: (_query, observation, body) => {
    const room = new Room();
    const answers = itemsOf(body).map(({ list, value, lookup }) => {
      const [entry] = lookup(observation);
      const object = entry && describe(observation.catalog, entry);
      if (object !== undefined) room.take(object);
      return { list, value, object };
    });
    const found = answers.filter(({ object }) => object !== undefined);
    const missing = answers.filter(({ object }) => object === undefined);
    const rows = found.map(({ value, object }) => ({ value, ...(object && rowOf(object)) }));
    const left = missing.map(({ list, value }) => ({ list, value }));
    return { body: { found, missing: left }, shown: { found: rows, missing: left } };
  },
};

/** A pod may have a megabyte of labels, and be asked for a thousand times. */
class Room {
  #bytes = 0;

  take(object: Described): void {
    this.#bytes += JSON.stringify(object).length;
    if (this.#bytes <= ANSWER_BYTES_MAX) return;
    const message = `The answer is larger than ${ANSWER_BYTES_MAX} bytes; ask for fewer at a time.`;
    throw invalid('body', message);
  }
}

function itemsOf(body: unknown): readonly Item[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const names = Object.keys(LISTS).join(', ');
    throw invalid('body', `The body is not a JSON object with the lists ${names}.`);
  }
  const lists = Object.entries(body).map(([list, values]) => listOfName(list, values));
  // Before any of them is looked at: there may be a million.
  const count = lists.reduce((sum, { values }) => sum + values.length, 0);
  if (count >= 1 && count <= HYDRATE_MAX) return lists.flatMap(itemsIn);
  const message = `The body asks for ${count}; ask for 1 to ${HYDRATE_MAX} at a time.`;
  throw invalid('body', message);
}

interface NamedList {
  readonly list: string;
  readonly lookupOf: (text: string) => Lookup;
  readonly values: readonly unknown[];
}

function listOfName(list: string, values: unknown): NamedList {
  const lookupOf = Object.hasOwn(LISTS, list) ? LISTS[list] : undefined;
  if (lookupOf === undefined) {
    const names = Object.keys(LISTS).join(', ');
    throw invalid(
      list.slice(0, 60),
      `The body has a field that is not known; known are: ${names}.`,
    );
  }
  if (!Array.isArray(values)) throw invalid(list, `The field ${list} is not a list.`);
  return { list, lookupOf, values };
}

const itemsIn = ({ list, lookupOf, values }: NamedList): readonly Item[] =>
  values.map((value, index) => {
    const name = `${list}[${index}]`;
    if (typeof value !== 'string') throw invalid(name, `The field ${name} is not a text.`);
    return { list, value, lookup: parseOne({ name, parse: lookupOf }, value) };
  });
