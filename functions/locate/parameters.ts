// The parameters of routes: name, meaning and form of each. Handlers and the OpenAPI
// description are made of the same ones.
import { isIP } from 'node:net';
import { integer } from '../../shared/function/parsers.ts';
import { type Requirement, parseSelector } from '../../shared/nats/replica/selector.ts';
import type { Schema } from './schema.ts';

export interface Parameter<Value> {
  readonly name: string;
  /** One phrase. */
  readonly meaning: string;
  readonly schema: Schema;
  readonly example: string;
  /** Throws an Error whose message ends the sentence "The parameter ip is ...". */
  readonly parse: (text: string) => Value;
}

export interface Name {
  readonly namespace: string;
  readonly name: string;
}

/** As the API server takes them, and the colons of its own roles: at most 253 characters. */
const NAME = /^[a-z0-9A-Z](?:[a-z0-9A-Z.:_-]{0,251}[a-z0-9A-Z])?$/;
/** Bounds texts that are looked up as they are. */
const ID = /^[!-~]{1,300}$/;
/** kubectl's users write tens of characters; reading time grows with the square. */
const SELECTOR_LENGTH_MAX = 1_000;
const NAMES_MAX = 100;
const COMPLETIONS_MAX = 100;
/** Version 2^53 is far beyond any stream. */
const VERSION_MAX = Number.MAX_SAFE_INTEGER;

export function parseName(text: string): Name {
  const [namespace = '', name = '', more] = text.split('/');
  if (more === undefined && NAME.test(namespace) && NAME.test(name)) return { namespace, name };
  throw new Error("not of the form 'namespace/name'");
}

function parsePlain(text: string): string {
  if (NAME.test(text)) return text;
  throw new Error('not a Kubernetes name');
}

export function parseId(text: string): string {
  if (ID.test(text)) return text;
  throw new Error('not an id: 1 to 300 visible ASCII characters');
}

/** IPv6 as the API server writes it: short, and in lower case. */
export function parseIp(text: string): string {
  if (isIP(text) === 4) return text;
  const host = isIP(text) === 6 ? URL.parse(`http://[${text}]`)?.hostname : undefined;
  if (host === undefined) throw new Error('not an IP address');
  return host.slice(1, -1);
}

function parseLabels(text: string): readonly Requirement[] {
  if (text.length > SELECTOR_LENGTH_MAX) {
    throw new Error(`longer than ${SELECTOR_LENGTH_MAX} characters`);
  }
  const requirements = parseSelector(text);
  if (typeof requirements !== 'string') return requirements;
  throw new Error(`not a label selector: ${requirements}`);
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

function parseTime(text: string): number {
  if (/^\d{1,11}(?:\.\d+)?$/.test(text)) return Number(text) * 1_000;
  // A plus in a query that was not encoded arrives as a blank.
  const written = text.replace(' ', '+');
  const timeMs = RFC3339.test(written) ? Date.parse(written) : Number.NaN;
  if (!Number.isNaN(timeMs)) return timeMs;
  throw new Error('neither a time of RFC 3339 nor seconds since 1970');
}

function parseNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.length <= NAMES_MAX && names.every((name) => NAME.test(name))) return names;
  throw new Error(`not a list of at most ${NAMES_MAX} names, with commas between them`);
}

const TEXT: Schema = { type: 'string', minLength: 1 };

function parameter<Value>(
  name: string,
  meaning: string,
  example: string,
  parse: (text: string) => Value,
  schema: Schema = TEXT,
): Parameter<Value> {
  return { name, meaning, example, parse, schema };
}

const workload = (name: string): Parameter<Name> =>
  parameter(name, `a ${name}, as namespace/name`, 'shop/web', parseName);

/** By the resource that each of them names. */
export const WORKLOADS: readonly (readonly [resource: string, Parameter<Name>])[] = [
  ['deployments', workload('deployment')],
  ['services', workload('service')],
  ['statefulsets', workload('statefulset')],
  ['daemonsets', workload('daemonset')],
  ['replicasets', workload('replicaset')],
  ['jobs', workload('job')],
  ['cronjobs', workload('cronjob')],
];

export const NAMESPACE = parameter('namespace', 'a whole namespace', 'shop', parsePlain);
export const SELECTOR = parameter(
  'selector',
  'pods by their labels, as kubectl takes selectors',
  'app=web,tier!=cache',
  parseLabels,
);
export const IN = parameter(
  'in',
  'the namespace to which a selector is limited',
  'shop',
  parsePlain,
);
export const UID = parameter(
  'uid',
  'the uid of any object',
  '5c1f9b8e-3f57-4a3e-9a53-0d1f0c8f8a11',
  parseId,
);
export const IP = parameter('ip', 'an address of a pod, node or service', '10.244.1.7', parseIp);
export const CONTAINER = parameter(
  'container',
  'the id of a container, with or without its containerd://',
  '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  parseId,
);
export const POD_NAME = parameter('name', 'a pod, as namespace/name', 'shop/web-0', parseName);
export const AT = parameter(
  'at',
  'when: a time of RFC 3339, or seconds since 1970',
  '2026-11-21T10:00:00Z',
  parseTime,
);
export const PREFIX = parameter('prefix', 'how the name begins', 'web', parsePrefix);
export const KINDS = parameter('kind', 'only these resources', 'pods,deployments', parseNames);
export const NAMESPACES = parameter('namespace', 'only in these namespaces', 'shop', parseNames);
export const LIMIT = parameter(
  'limit',
  'how many names at most',
  '20',
  integer(1, COMPLETIONS_MAX),
  { type: 'integer', minimum: 1, maximum: COMPLETIONS_MAX, default: 20 },
);
export const MIN_VERSION = parameter(
  'minVersion',
  'answer only with what is known at this version of the feed, or later; waits for it a little',
  '1',
  integer(0, VERSION_MAX),
  { type: 'integer', minimum: 0 },
);

function parsePrefix(text: string): string {
  if (/^[a-zA-Z0-9.:_-]{1,253}$/.test(text)) return text;
  throw new Error('not the beginning of a Kubernetes name');
}
