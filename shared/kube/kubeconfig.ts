// Access by kubeconfig, read with client-node's own parts. They are imported one by one, because
// the package as a whole loads every typed model (4 MB of code, 50 MB resident) and nothing here
// wants them.
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { dirname, resolve } from 'node:path';
import {
  type Cluster,
  newClusters,
  newContexts,
  newUsers,
  type User,
} from '@kubernetes/client-node/dist/config_types.js';
import { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js';
import { parse } from 'yaml';
import { Failure } from '../errors.ts';
import { isRecord, textOf } from './json.ts';
import type { Access, ReadAccess, TlsMaterial } from './access.ts';

interface Kubeconfig {
  readonly path: string;
  readonly raw: Readonly<Record<string, unknown>>;
}

/**
 * The entries that the current context names, and the directories that their relative paths start
 * from.
 */
interface Selection {
  readonly cluster: Cluster;
  readonly clusterDir: string;
  readonly user: User;
  readonly userDir: string;
  /**
   * client-node looks for `token-file`, which no kubeconfig has, and drops the one that is meant.
   */
  readonly tokenFile: string | undefined;
}

export function kubeconfigReader(paths: readonly string[]): ReadAccess {
  let exec = new ExecAuth();
  return async (isRefused) => {
    // It hands out a credential until that expires, and a credential may be revoked before.
    if (isRefused) exec = new ExecAuth();
    const selection = select(await Promise.all(paths.map(readOne)));
    const { cluster, user } = selection;
    // ExecAuth writes what the command printed into these: a header, or a client certificate.
    const options: RequestOptions & { headers: Record<string, string> } = {
      headers: await headersOf(selection),
    };
    if (exec.isAuthProvider(user)) await exec.applyAuthentication(user, options);
    const { cert, key } = options;
    return {
      server: cluster.server,
      ...(cluster.proxyUrl ? { proxyUrl: cluster.proxyUrl } : {}),
      headers: lowerCased(options.headers),
      tls: { ...(await tlsOf(selection)), ...certificate(cert, key) },
    } satisfies Access;
  };
}

async function readOne(path: string): Promise<Kubeconfig> {
  const raw: unknown = parse(await readFile(path, 'utf8'));
  return { path, raw: isRecord(raw) ? raw : {} };
}

/** Of entries with the same name in several files the first counts, as kubectl has it. */
function select(files: readonly Kubeconfig[]): Selection {
  const current = files.map(({ raw }) => raw['current-context']).find((name) => name);
  const context = files
    .flatMap(({ raw }) => newContexts(raw['contexts']))
    .find(({ name }) => name === current);
  const [cluster, clusterFile] = find(
    files,
    ({ raw }) => newClusters(raw['clusters']),
    context?.cluster,
  );
  const [user, userFile] = find(files, ({ raw }) => newUsers(raw['users']), context?.user);
  if (!cluster || !user || !clusterFile || !userFile) {
    const where = files.map(({ path }) => path).join(', ');
    const message =
      `The current context '${textOf(current)}' of ${where} names no cluster and user that ` +
      'are there: correct the kubeconfig.';
    throw new Failure('KUBE_ACCESS_UNREADABLE', message);
  }
  refuseLegacy(user);
  const rows = userFile.raw['users'];
  const row = Array.isArray(rows) ? rows.find((entry) => entry?.name === user.name) : undefined;
  const tokenFile: unknown = row?.user?.tokenFile;
  return {
    cluster,
    clusterDir: dirname(clusterFile.path),
    user,
    userDir: dirname(userFile.path),
    tokenFile: typeof tokenFile === 'string' ? tokenFile : undefined,
  };
}

function find<Entry extends { readonly name: string }>(
  files: readonly Kubeconfig[],
  entriesOf: (file: Kubeconfig) => readonly Entry[],
  name: string | undefined,
): [Entry, Kubeconfig] | [] {
  for (const file of files) {
    const entry = entriesOf(file).find((candidate) => candidate.name === name);
    if (entry !== undefined) return [entry, file];
  }
  return [];
}

function refuseLegacy({ name, authProvider }: User): void {
  if (!authProvider || authProvider.name === 'exec') return;
  const message =
    `The kubeconfig user '${name}' has the auth provider '${authProvider.name}', which is not ` +
    'read here: use an exec plugin, a token or a certificate.';
  throw new Failure('KUBE_ACCESS_UNREADABLE', message);
}

async function headersOf({ user, userDir, tokenFile }: Selection): Promise<Record<string, string>> {
  const headers: Record<string, string> = {};
  if (user.impersonateUser) headers['impersonate-user'] = user.impersonateUser;
  // A file wins over the token beside it: that one is its copy from when the file was written.
  const token = tokenFile ? await readFile(resolve(userDir, tokenFile), 'utf8') : user.token;
  if (token) headers['authorization'] = `Bearer ${token.trim()}`;
  else if (user.username) {
    const pair = Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64');
    headers['authorization'] = `Basic ${pair}`;
  }
  return headers;
}

async function tlsOf({ cluster, clusterDir, user, userDir }: Selection): Promise<TlsMaterial> {
  const [ca, cert, key] = await Promise.all([
    pem(cluster.caData, cluster.caFile, clusterDir),
    pem(user.certData, user.certFile, userDir),
    pem(user.keyData, user.keyFile, userDir),
  ]);
  return {
    ...(ca === undefined ? {} : { ca }),
    ...certificate(cert, key),
    ...(cluster.tlsServerName ? { servername: cluster.tlsServerName } : {}),
    ...(cluster.skipTLSVerify ? { rejectUnauthorized: false } : {}),
  };
}

async function pem(
  data: string | undefined,
  file: string | undefined,
  dir: string,
): Promise<string | undefined> {
  if (data) return Buffer.from(data, 'base64').toString();
  return file ? readFile(resolve(dir, file), 'utf8') : undefined;
}

/** An exec plugin's token comes as `Authorization`. */
function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

/** What an exec plugin printed is PEM text; nothing else is ever put there. */
function certificate(cert: unknown, key: unknown): TlsMaterial {
  return typeof cert === 'string' && typeof key === 'string' ? { cert, key } : {};
}
