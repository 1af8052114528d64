// The configuration that the NATS operator wrote for its servers, as far as a NatsCluster can say
// the same, and what it has no words for. It is JSON, but for two lines that the operator spoils.
// Passwords are no part of it. Pure.
import { GLOBAL_ACCOUNT } from '../../../shared/api/nats-cluster.ts';
import { isRecord } from '../../../shared/kube/json.ts';
import { fieldOf } from '../legacy.ts';
import type { Fields } from '../legacy/said.ts';

export interface LegacyRights {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

export interface LegacyUser {
  readonly name: string;
  readonly publish: LegacyRights | undefined;
  readonly subscribe: LegacyRights | undefined;
  readonly allowResponses?: boolean;
}

/** Users who hear each other alone. */
export interface LegacyAccount {
  readonly name: string;
  readonly users: readonly LegacyUser[];
}

export interface LegacyConfig {
  readonly accounts: readonly LegacyAccount[];
  /** The name of the NATS cluster, where servers tell one. */
  readonly clusterName?: string;
  /** Nobody is asked for a login. */
  readonly isOpen: boolean;
  /** Clients speak TLS. */
  readonly hasTls: boolean;
  /** The servers speak TLS with each other. */
  readonly hasRouteTls: boolean;
  /** The servers ask each other for a login. */
  readonly hasRouteLogin: boolean;
  /** Servers keep streams; servers of the operator never did. */
  readonly hasStreams?: boolean;
  /** Servers know each other; those of the operator always did. */
  readonly isRouted?: boolean;
  /** Parts of a sentence about what a NatsCluster cannot be told. */
  readonly lacks: readonly string[];
}

export const usersOf = ({ accounts }: LegacyConfig): readonly LegacyUser[] =>
  accounts.flatMap(({ users }) => users);

/** Undefined for what no operator wrote. */
export function configIn(text: string): LegacyConfig | undefined {
  const config = parsed(text);
  if (config === undefined) return undefined;
  const login = config['authorization'];
  const routes = fieldOf(config, 'cluster');
  const { users, odd } = usersIn(isRecord(login) ? login : {});
  return {
    accounts: users.length === 0 ? [] : [{ name: GLOBAL_ACCOUNT, users }],
    isOpen: !isRecord(login) && !has(config, 'operator'),
    hasTls: isRecord(config['tls']),
    hasRouteTls: has(routes, 'tls'),
    hasRouteLogin: has(routes, 'authorization'),
    lacks: [...featuresOf(config), ...odd],
  };
}

/** The operator takes the quotes off a variable and off `include`, so that NATS reads them so. */
function parsed(text: string): Fields | undefined {
  const json = text
    .replace(/("server_name":\s*)\$SERVER_NAME/, '$1"$SERVER_NAME"')
    // Blanks alone: `\s` would go over the same empty lines again from each of them.
    .replaceAll(/^([ \t]*)include[ \t]+"/gm, '$1"include": "');
  try {
    const config: unknown = JSON.parse(json);
    return isRecord(config) ? config : undefined;
  } catch {
    return undefined;
  }
}

/** By users. They are written where they belong, and kept nowhere. */
export function passwordsIn(text: string): ReadonlyMap<string, string> {
  const login = fieldOf(parsed(text) ?? {}, 'authorization');
  const found = loginsIn(login).flatMap((one) => {
    const name = nameIn(one);
    const { password } = one;
    return name === undefined || typeof password !== 'string' ? [] : [[name, password] as const];
  });
  return new Map(found);
}

export const has = (fields: Fields, name: string): boolean =>
  fields[name] !== undefined && fields[name] !== null;

/** Above this a message is refused by a NatsCluster. */
export const PAYLOAD_BYTES = 2 ** 20;

function featuresOf(config: Fields): readonly string[] {
  const tls = fieldOf(config, 'tls');
  const named: readonly (readonly [boolean, string])[] = [
    [has(config, 'gateway'), 'gateways'],
    [has(config, 'leaf'), 'leaf nodes'],
    [has(config, 'websocket'), 'WebSockets'],
    [has(config, 'operator'), 'accounts by JWT (operatorConfig)'],
    [has(config, 'include'), 'addresses of nodes (advertiseExternalIP)'],
    [tls['verify'] === true, 'certificates that clients have to show (tls.verify)'],
    [tls['verify_and_map'] === true, 'users by their certificates (tlsVerifyAndMap)'],
    [Number(config['max_payload']) > PAYLOAD_BYTES, 'messages of more than 1 MiB (maxPayload)'],
  ];
  return named.flatMap(([is, what]) => (is ? [what] : []));
}

export function usersIn(login: Fields): {
  readonly users: readonly LegacyUser[];
  readonly odd: readonly string[];
} {
  const usual = fieldOf(login, 'default_permissions');
  const users: LegacyUser[] = [];
  const odd = new Set<string>();
  for (const one of loginsIn(login)) {
    const name = nameIn(one);
    if (name !== undefined) users.push(userOf(one, name, usual));
    else if (has(one, 'nkey')) odd.add('users by nkey');
  }
  if (has(login, 'token')) odd.add('a token for all');
  if (has(login, 'include')) odd.add('users in a file of the pods (clientsAuthFile)');
  return { users, odd: [...odd] };
}

/** One user alone stands beside the list, and the list wins. */
export function loginsIn(login: Fields): readonly Fields[] {
  const listed = Array.isArray(login['users']) ? login['users'] : [];
  return listed.length === 0 ? [login] : listed.filter((one) => isRecord(one));
}

export function nameIn({ username, user }: Fields): string | undefined {
  const name = username ?? user;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function userOf(user: Fields, name: string, usual: Fields): LegacyUser {
  const rights = isRecord(user['permissions']) ? user['permissions'] : usual;
  const sides = { publish: rightsIn(rights['publish']), subscribe: rightsIn(rights['subscribe']) };
  return {
    name,
    ...sides,
    ...(rights['allow_responses'] === true ? { allowResponses: true } : {}),
  };
}

/** A subject, some, or lists of some; to NATS an empty list is the same as none. */
function rightsIn(rights: unknown): LegacyRights | undefined {
  const fields = isRecord(rights) ? rights : { allow: rights };
  const [allow, deny] = [subjectsIn(fields['allow']), subjectsIn(fields['deny'])];
  if (allow.length + deny.length === 0) return undefined;
  return { ...(allow.length === 0 ? {} : { allow }), ...(deny.length === 0 ? {} : { deny }) };
}

function subjectsIn(subjects: unknown): readonly string[] {
  const all: readonly unknown[] = Array.isArray(subjects) ? subjects : [subjects];
  return all.filter((one): one is string => typeof one === 'string' && one !== '');
}
