// Parts of the configuration of a chart that a NatsCluster cannot be told. Keys for which it has no
// words are told, whatever they are, and each value that would be read past. Pure.
import { isRecord } from '../../../../shared/kube/json.ts';
import { SYSTEM_ACCOUNT } from '../ask-servers.ts';
import { fieldOf } from '../../legacy.ts';
import type { Fields } from '../../legacy/said.ts';
import { has, PAYLOAD_BYTES, usersIn } from '../config.ts';
import { CLIENT_PORT, MONITORING_PORT, ROUTE_PORT } from '../ports.ts';
import { isWord } from './chart-text.ts';

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
const OF_SIDE = keys('allow deny');
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

export function lacksOf(config: Fields): readonly string[] {
  const [routes, tls] = [fieldOf(config, 'cluster'), fieldOf(config, 'tls')];
  const { port = CLIENT_PORT, http_port, max_payload = 0 } = config;
  const named: readonly (readonly [boolean, string])[] = [
    [port !== CLIENT_PORT, 'another port of clients (config.nats.port)'],
    [http_port !== MONITORING_PORT, 'no monitoring at port 8222 (config.monitor)'],
    [has(routes, 'port') && routes['port'] !== ROUTE_PORT, 'another port of routes'],
    [tls['verify'] === true, 'certificates that clients have to show (tls.verify)'],
    [config['system_account'] === SYSTEM_ACCOUNT, 'a system account of the name SYS'],
    [!(Number(max_payload) <= PAYLOAD_BYTES), 'messages of more than 1 MiB (max_payload)'],
  ];
  return [
    ...wordsIn(config),
    ...unknownIn(config, HARMLESS),
    ...unknownIn(routes, OF_ROUTES, 'cluster.'),
    ...unknownIn(fieldOf(routes, 'tls'), OF_TLS, 'cluster.tls.'),
    ...unknownIn(tls, OF_TLS, 'tls.'),
    ...named.flatMap(([is, what]) => (is ? [what] : [])),
  ];
}

/** Places of a word that is read; of streams and amounts each one is refused. */
const READ = /^(?:server_name|max_payload|jetstream(?:\..*)?)$/;
const PASSWORD = /^(?:authorization|accounts\.[^.]*)(?:\.users)?\.pass(?:word)?$/;
/** One more than rights in an account are deep. */
const LEVELS_MAX = 9;

/** All others would be read past: a user who is a variable would be none, and a right be all. */
function wordsIn(value: unknown, path = '', level = 0): readonly string[] {
  if (READ.test(path) || PASSWORD.test(path)) return [];
  if (isWord(value)) return [`a word without quotes in ${path}`];
  if (level > LEVELS_MAX) return [`key ${path}`];
  if (Array.isArray(value)) return value.flatMap((one) => wordsIn(one, path, level + 1));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    wordsIn(one, path === '' ? key : `${path}.${key}`, level + 1),
  );
}

/** `path`: where the logins stand. */
export function lacksOfLogins(path: string, login: Fields): readonly string[] {
  const { users, odd } = usersIn(login);
  const listed = Array.isArray(login['users']) ? login['users'] : [];
  const ofUsers = listed.flatMap((one: unknown) => {
    const user = isRecord(one) ? one : {};
    return [
      ...unknownIn(user, OF_USER, `${path}.users.`),
      ...oddRights(user['permissions'], `${path}.users.permissions`),
    ];
  });
  const own = unknownIn(login, path === 'authorization' ? OF_LOGIN : OF_ACCOUNT, `${path}.`);
  const isRead = listed.length === 0 || users.length === listed.length;
  return [
    ...new Set([
      ...own,
      ...ofUsers,
      ...oddRights(login['default_permissions'], `${path}.default_permissions`),
      ...(isRead || odd.length > 0 ? [] : [`a user without a name in ${path}.users`]),
      ...odd,
    ]),
  ];
}

function oddRights(rights: unknown, path: string): readonly string[] {
  if (rights === undefined || isWord(rights)) return [];
  if (!isRecord(rights)) return [`key ${path}`];
  const { allow_responses: answers = false, publish, subscribe } = rights;
  return [
    ...unknownIn(rights, OF_RIGHTS, `${path}.`),
    ...(typeof answers === 'boolean' ? [] : [`limits of allow_responses in ${path}`]),
    ...oddSubjects(publish, `${path}.publish`),
    ...oddSubjects(subscribe, `${path}.subscribe`),
  ];
}

function oddSubjects(side: unknown, path: string): readonly string[] {
  if (isWord(side)) return [];
  const fields = isRecord(side) ? side : { allow: side };
  const all: readonly unknown[] = [fields['allow'] ?? [], fields['deny'] ?? []].flat();
  const isOdd = all.some((one) => typeof one !== 'string' && !isWord(one));
  return [...unknownIn(fields, OF_SIDE, `${path}.`), ...(isOdd ? [`key ${path}`] : [])];
}
