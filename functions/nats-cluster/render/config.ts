// The configuration of the servers, one file for all: they fill in their own name from their
// environment. It is written as JSON, which NATS reads too, so that the digest that a server
// reports for it can be computed here. Pure.
import { createHash } from 'node:crypto';
import {
  type Account,
  GLOBAL_ACCOUNT,
  type NatsClusterSpec,
  type Rights,
  type User,
} from '../../../shared/api/nats-cluster.ts';
import { hashOf, sorted } from '../../../shared/hash.ts';
import { quantityOf } from '../../../shared/kube/quantity.ts';
import { CLIENT_PORT, type Cluster, headlessHost, ROUTE_PORT, serverNames } from '../cluster.ts';
import type { Credentials } from '../credentials.ts';
import { feedPermissions, feedsOf } from './feeds.ts';

export interface ConfigObject {
  readonly [key: string]: ConfigValue;
}
type ConfigValue = string | number | boolean | readonly ConfigValue[] | ConfigObject;

/** Where the volumes are mounted. */
export const CONFIG_DIR = '/etc/nats';
export const DATA_DIR = '/data';
export const RUN_DIR = '/var/run/nats';
export const PID_FILE = `${RUN_DIR}/nats.pid`;
export const CONFIG_KEY = 'nats.conf';
/** The name of its Secret, after the name of the cluster. */
export const CONFIG_SUFFIX = '-config';

export const SYSTEM_ACCOUNT = 'SYS';
export const SYSTEM_USER = 'ballast-system';
/** For clusters that name no accounts. */
const DEFAULT_ACCOUNT = 'DEFAULT';
const DEFAULT_USER = 'default';
const ROUTE_USER = 'route';

/**
 * Share of the volume; the rest is for the file system, and for files that JetStream does not
 * count.
 */
const FILE_SHARE = 0.95;
/** A node that is starting may be slow; the default of 2 s has been seen to fail there. */
const HANDSHAKE_SECONDS = 5;

/** The configuration without the name of the server. */
export function natsConfig(cluster: Cluster, credentials: Credentials): ConfigObject {
  const { spec } = cluster;
  const { clients } = credentials.certificates;
  return {
    port: CLIENT_PORT,
    http_port: spec.monitoringPort,
    pid_file: PID_FILE,
    lame_duck_grace_period: `${spec.lameDuck.graceSeconds}s`,
    lame_duck_duration: `${spec.lameDuck.durationSeconds}s`,
    jetstream: jetStreamOf(cluster),
    // A single server keeps its streams by itself: no group, no leader.
    ...(spec.replicas === 1 ? {} : { cluster: clusteringOf(cluster, credentials) }),
    ...(clients === undefined ? {} : { tls: tlsOf('clients') }),
    system_account: SYSTEM_ACCOUNT,
    ...loginsOf(cluster, credentials),
    // A renewed certificate changes no other line, and the digest has to change with it.
    server_metadata: { certificates: hashOf(credentials.certificates) },
  };
}

/** Settings that a running server refuses to take over: a change of them needs a restart. */
export function restartOnly(config: ConfigObject): ConfigObject {
  const { port, http_port, pid_file, lame_duck_grace_period, lame_duck_duration } = config;
  const { max_memory_store, store_dir } = nested(config['jetstream']);
  const { name, port: routePort, no_advertise } = nested(config['cluster']);
  const kept = {
    port,
    http_port,
    pid_file,
    lame_duck_grace_period,
    lame_duck_duration,
    max_memory_store,
    store_dir,
    name,
    routePort,
    no_advertise,
    importing: importingIn(config),
  };
  return defined(kept);
}

/**
 * Accounts that import. A running server takes a new importing account over and then answers nobody
 * in it, so a new one needs a restart. The imports of an existing account may change.
 */
function importingIn({ accounts }: ConfigObject): readonly string[] | undefined {
  const names = Object.entries(nested(accounts)).flatMap(([name, account]) =>
    nested(account)['imports'] === undefined ? [] : [name],
  );
  return names.length === 0 ? undefined : names.toSorted();
}

const defined = (values: Readonly<Record<string, ConfigValue | undefined>>): ConfigObject =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

const nested = (value: ConfigValue | undefined): ConfigObject =>
  typeof value === 'object' && !isList(value) ? value : {};

const isList = (value: ConfigValue): value is readonly ConfigValue[] => Array.isArray(value);

export function configText(config: ConfigObject): string {
  const lines = Object.entries(config).map(([key, value]) => `${key}: ${written(value)}`);
  return ['server_name: $POD_NAME', ...lines, ''].join('\n');
}

/** NATS knows no \u, \b and \f in its strings; a backslash that stands for itself is two. */
const written = (value: ConfigValue): string =>
  JSON.stringify(value).replaceAll(/\\(?:u00([0-9a-f]{2})|.)/g, (escape, hex?: string) =>
    hex === undefined ? (AS_HEX.get(escape) ?? escape) : String.raw`\x${hex}`,
  );

const AS_HEX: ReadonlyMap<string, string> = new Map([
  [String.raw`\b`, String.raw`\x08`],
  [String.raw`\f`, String.raw`\x0c`],
]);

/** The digest that this server reports in VARZ once it runs on this configuration. */
export function configDigest(config: ConfigObject, server: string): string {
  const text = JSON.stringify(sorted({ ...config, server_name: server }));
  // Go's encoder escapes these.
  const asGo = text.replaceAll(
    /[<>&\u2028\u2029]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `sha256:${createHash('sha256').update(`${asGo}\n`).digest('hex')}`;
}

function jetStreamOf({ spec: { jetStream } }: Cluster): ConfigObject {
  const { fileStorage, memory } = jetStream;
  // JetStream takes 0 for "none of it"; absent it would help itself to most of the node.
  return {
    store_dir: DATA_DIR,
    max_file_store: Math.floor(quantityOf(fileStorage?.size ?? '0') * FILE_SHARE),
    max_memory_store: Math.floor(quantityOf(memory?.size ?? '0')),
  };
}

const clusteringOf = (cluster: Cluster, credentials: Credentials): ConfigObject => ({
  name: cluster.spec.clusterName ?? cluster.name,
  port: ROUTE_PORT,
  // Clients come back through the Service, whose name their certificates have.
  no_advertise: true,
  authorization: {
    user: ROUTE_USER,
    password: credentials.routePassword,
    timeout: HANDSHAKE_SECONDS,
  },
  routes: [
    ...routesOf(cluster, credentials),
    ...(cluster.spec.extraRoutes ?? []).map((at) => `nats://${at}`),
  ],
  ...(credentials.certificates.routes === undefined
    ? {}
    : { tls: { ...tlsOf('routes'), verify: true } }),
});

/**
 * A server without state expects a cluster of as many servers as it has routes, so only servers
 * that stay have one.
 */
function routesOf(cluster: Cluster, { routePassword }: Credentials): readonly string[] {
  const login = `${ROUTE_USER}:${encodeURIComponent(routePassword)}`;
  const host = headlessHost(cluster);
  return serverNames(cluster, cluster.spec.replicas).map(
    (name) => `nats://${login}@${name}.${host}:${ROUTE_PORT}`,
  );
}

const tlsOf = (listener: 'clients' | 'routes'): ConfigObject => ({
  cert_file: `${CONFIG_DIR}/${listener}.crt`,
  key_file: `${CONFIG_DIR}/${listener}.key`,
  ca_file: `${CONFIG_DIR}/${listener}-ca.crt`,
  timeout: HANDSHAKE_SECONDS,
});

const DEFAULT: Account = {
  name: DEFAULT_ACCOUNT,
  jetStream: true,
  users: [{ name: DEFAULT_USER }],
};

/** All accounts except the system account. */
export const accountsOf = ({ accounts = [] }: NatsClusterSpec): readonly Account[] =>
  accounts.length === 0 ? [DEFAULT] : accounts;

function loginsOf({ spec }: Cluster, credentials: Credentials): ConfigObject {
  const accounts = accountsOf(spec);
  const system = { users: [{ user: SYSTEM_USER, password: credentials.systemPassword }] };
  const named = accounts.map((one) => [one.name, accountOf(one, accounts, credentials)] as const);
  const { [GLOBAL_ACCOUNT]: everybody, ...others } = Object.fromEntries(named);
  return {
    accounts: { [SYSTEM_ACCOUNT]: system, ...others },
    // NATS lets nobody name that account: users who stand outside of all others are in it.
    ...(everybody === undefined ? {} : { authorization: { users: everybody['users'] ?? [] } }),
  };
}

function accountOf(
  account: Account,
  accounts: readonly Account[],
  { passwords }: Credentials,
): ConfigObject {
  return {
    ...(account.jetStream ? { jetstream: 'enabled' } : {}),
    users: account.users.map((user) => userOf(user, passwords.get(user.name) ?? '')),
    ...feedsOf(account, accounts),
  };
}

function userOf(user: User, password: string): ConfigObject {
  const permissions = feedPermissions(user) ?? permissionsOf(user);
  const login = { user: user.name, password };
  return permissions === undefined ? login : { ...login, permissions: { ...permissions } };
}

function permissionsOf({ permissions }: User): ConfigObject | undefined {
  if (permissions === undefined) return undefined;
  const { publish, subscribe, allowResponses } = permissions;
  return {
    ...(publish === undefined ? {} : { publish: rightsOf(publish) }),
    ...(subscribe === undefined ? {} : { subscribe: rightsOf(subscribe) }),
    ...(allowResponses ? { allow_responses: true } : {}),
  };
}

/**
 * NATS reads an empty list as "everything". Here it means nothing, and an empty deny is left out.
 */
function rightsOf({ allow, deny = [] }: Rights): ConfigObject {
  if (allow?.length === 0) return { deny: ['>'] };
  return {
    ...(allow === undefined ? {} : { allow }),
    ...(deny.length === 0 ? {} : { deny }),
  };
}
