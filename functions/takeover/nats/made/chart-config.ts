// The configuration that the chart writes for its servers: JSON, in which `<< WORD >>` has lost its
// quotes. Keys for which a NatsCluster has no words are told, whatever they are. Passwords are no
// part of it. Pure.
import { GLOBAL_ACCOUNT } from '../../../../shared/api/nats-cluster.ts';
import { isRecord, textOf } from '../../../../shared/kube/json.ts';
import { fieldOf } from '../../legacy.ts';
import type { Fields } from '../../legacy/said.ts';
import {
  has,
  type LegacyAccount,
  type LegacyConfig,
  loginsIn,
  nameIn,
  PAYLOAD_BYTES,
  usersIn,
} from '../config.ts';
import { SYSTEM_ACCOUNT } from '../ask-servers.ts';
import { ROUTE_PORT } from '../legacy.ts';

/** A password as it stands there; a variable by its name. */
export type Password = { readonly text: string } | { readonly variable: string };

/** Lines that Helm made of keys that end in `$include`. */
const INCLUDE = /^[ \t]*include [^\n]*;[ \t]*$/m;

/** A text says why it is not understood. */
export function chartConfigIn(text: string): LegacyConfig | string {
  if (INCLUDE.test(text)) return 'including other files ($include), which are not read';
  const config = parsed(text);
  if (config === undefined) return 'not as the chart writes it: JSON';
  const routes = fieldOf(config, 'cluster');
  const login = fieldOf(config, 'authorization');
  const named = accountsIn(config);
  const { users } = usersIn(login);
  const global = users.length === 0 ? [] : [{ name: GLOBAL_ACCOUNT, users }];
  return {
    accounts: [...global, ...named.accounts],
    ...(has(routes, 'name') ? { clusterName: textOf(routes['name']) } : {}),
    isOpen: !has(config, 'authorization') && !has(config, 'accounts'),
    hasTls: has(config, 'tls'),
    hasRouteTls: has(routes, 'tls'),
    hasRouteLogin: has(routes, 'authorization'),
    hasStreams: has(config, 'jetstream'),
    isRouted: has(config, 'cluster'),
    lacks: [...oddIn(config), ...oddOfLogins('authorization', login), ...named.odd],
  };
}

/** A word without quotes: a variable, or an amount such as 1GB. */
const isWord = (value: unknown): value is { readonly word: string } =>
  isRecord(value) && typeof value['word'] === 'string' && Object.keys(value).length === 1;

/** A string that does not end goes to the end of the text, so that none of it is read twice. */
const TOKEN = /"(?:[^"\\]|\\.)*"?|[^\s{}[\],:"]+/g;
const LITERAL = /^(?:"|true$|false$|null$|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$)/;

function parsed(text: string): Fields | undefined {
  const json = text.replaceAll(TOKEN, (token) =>
    LITERAL.test(token) ? token : JSON.stringify({ word: token }),
  );
  try {
    const config: unknown = JSON.parse(json);
    return isRecord(config) ? config : undefined;
  } catch {
    return undefined;
  }
}

const PLAIN = /^[^\s"'\\;,{}[\]()]+$/;
const QUOTED = /^(["'])([^"'\\]*)\1$/;

/** The text of a variable as NATS reads it, which takes it for a part of the file. */
export function wordIn(variable: string): string | undefined {
  const text = variable.trim();
  if (PLAIN.test(text)) return text;
  return QUOTED.exec(text)?.[2];
}

export function chartPasswordsIn(text: string): ReadonlyMap<string, Password> {
  const config = parsed(text) ?? {};
  const accounts = Object.values(fieldOf(config, 'accounts')).filter((one) => isRecord(one));
  const logins = [fieldOf(config, 'authorization'), ...accounts].flatMap((one) => loginsIn(one));
  const found = logins.flatMap((one) => {
    const name = nameIn(one);
    const password = passwordOf(one['password'] ?? one['pass']);
    return name === undefined || password === undefined ? [] : [[name, password] as const];
  });
  return new Map(found);
}

function passwordOf(value: unknown): Password | undefined {
  if (typeof value === 'string') return { text: value };
  if (!isWord(value)) return undefined;
  const { word } = value;
  return word.startsWith('$') ? { variable: word.slice(1) } : { text: word };
}

/** Keys that say nothing about clients, or what a NatsCluster has in its own way. */
const HARMLESS = keys(
  'authorization accounts cluster jetstream tls system_account server_name server_tags pid_file ' +
    'prof_port debug trace logtime lame_duck_duration lame_duck_grace_period port http_port ' +
    'max_payload',
);
const OF_ROUTES = keys('name port no_advertise routes authorization tls');
const OF_TLS = keys('cert_file key_file ca_file timeout verify');
const OF_LOGIN = keys('users user username password token timeout default_permissions');
const OF_USER = keys('user username pass password permissions nkey');
const OF_RIGHTS = keys('publish subscribe allow_responses');
const OF_ACCOUNT = keys('users jetstream default_permissions');

function keys(names: string): ReadonlySet<string> {
  return new Set(names.split(' '));
}

/** Words by which people call it. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['gateway', 'gateways'],
  ['leafnodes', 'leaf nodes'],
  ['mqtt', 'MQTT'],
  ['websocket', 'WebSockets'],
  ['resolver', 'accounts by JWT (resolver)'],
  ['operator', 'accounts by JWT (operator)'],
  ['no_auth_user', 'clients without a login (no_auth_user)'],
  ['https_port', 'monitoring over HTTPS (https_port)'],
]);

/** Parts of a sentence about keys that nobody knows, with their path. */
const unknownIn = (fields: Fields, known: ReadonlySet<string>, path = ''): readonly string[] =>
  Object.keys(fields)
    .filter((key) => !known.has(key) && has(fields, key))
    .map((key) => (path === '' ? NAMES.get(key) : undefined) ?? `key ${path}${key}`);

function oddIn(config: Fields): readonly string[] {
  const [routes, tls] = [fieldOf(config, 'cluster'), fieldOf(config, 'tls')];
  const { port = 4222, http_port, max_payload = 0 } = config;
  const named: readonly (readonly [boolean, string])[] = [
    [port !== 4222, 'another port of clients (config.nats.port)'],
    [http_port !== 8222, 'no monitoring at port 8222 (config.monitor)'],
    [has(routes, 'port') && routes['port'] !== ROUTE_PORT, 'another port of routes'],
    [tls['verify'] === true, 'certificates that clients have to show (tls.verify)'],
    [config['system_account'] === SYSTEM_ACCOUNT, 'a system account of the name SYS'],
    [!(Number(max_payload) <= PAYLOAD_BYTES), 'messages of more than 1 MiB (max_payload)'],
  ];
  return [
    ...unknownIn(config, HARMLESS),
    ...unknownIn(routes, OF_ROUTES, 'cluster.'),
    ...unknownIn(fieldOf(routes, 'tls'), OF_TLS, 'cluster.tls.'),
    ...unknownIn(tls, OF_TLS, 'tls.'),
    ...named.flatMap(([is, what]) => (is ? [what] : [])),
  ];
}

function accountsIn(config: Fields): {
  readonly accounts: readonly LegacyAccount[];
  readonly odd: readonly string[];
} {
  const system = textOf(config['system_account']);
  const accounts: LegacyAccount[] = [];
  const odd: string[] = [];
  for (const [name, account] of Object.entries(fieldOf(config, 'accounts'))) {
    const fields = isRecord(account) ? account : {};
    const path = `accounts.${name}`;
    const { users } = usersIn(fields);
    odd.push(...unknownIn(fields, OF_ACCOUNT, `${path}.`), ...oddOfLogins(path, fields));
    if (name === system) {
      if (users.length > 0) odd.push(`users of the system account (${name})`);
    } else if (users.length > 0) {
      accounts.push({ name, users });
    }
  }
  return { accounts, odd };
}

/** `path`: where the logins stand. */
function oddOfLogins(path: string, login: Fields): readonly string[] {
  const listed = Array.isArray(login['users']) ? login['users'] : [];
  const odd = listed.flatMap((one: unknown) => {
    const user = isRecord(one) ? one : {};
    const rights = fieldOf(user, 'permissions');
    const { allow_responses: answers = false } = rights;
    return [
      ...unknownIn(user, OF_USER, `${path}.users.`),
      ...unknownIn(rights, OF_RIGHTS, `${path}.users.permissions.`),
      ...(typeof answers === 'boolean' ? [] : [`limits of allow_responses in ${path}`]),
    ];
  });
  const own = path === 'authorization' ? unknownIn(login, OF_LOGIN, `${path}.`) : [];
  return [...new Set([...own, ...odd, ...usersIn(login).odd])];
}
