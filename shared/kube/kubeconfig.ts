// Access by kubeconfig, read with client-node's own parts. They are imported one by one, because
// the package as a whole loads every typed model (4 MB of code, 50 MB resident) and nothing here
// wants them.
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import {
  type Cluster,
  newClusters,
  newContexts,
  newUsers,
  type User,
} from '@kubernetes/client-node/dist/config_types.js';
import { LineCounter, parseDocument } from 'yaml';
import type { Clock } from '../clock.ts';
import { Failure } from '../errors.ts';
import { readCredential } from './credential-file.ts';
import { execOf, ExecPlugins } from './exec-plugin.ts';
import { isRecord, textOf } from './json.ts';
import type { Access, ReadAccess, TlsMaterial } from './access-cache.ts';

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

export function kubeconfigReader(paths: readonly string[], clock: Clock): ReadAccess {
  const plugins = new ExecPlugins(clock);
  return async (isRefused, signal) => {
    // A credential may be revoked before it expires.
    if (isRefused) plugins.forget();
    const selection = select(await Promise.all(paths.map((path) => readOne(path, signal))));
    const { cluster, user } = selection;
    const exec = execOf(user);
    const printed = exec && (await plugins.credential(user.name, exec, signal));
    const bearer = printed?.token && { authorization: `Bearer ${printed.token}` };
    return {
      server: cluster.server,
      ...(cluster.proxyUrl ? { proxyUrl: cluster.proxyUrl } : {}),
      headers: { ...(await headersOf(selection, signal)), ...bearer },
      tls: { ...(await tlsOf(selection, signal)), ...certificate(printed?.cert, printed?.key) },
    } satisfies Access;
  };
}

async function readOne(path: string, signal: AbortSignal): Promise<Kubeconfig> {
  const raw = parseYaml(path, await readFile(path, { encoding: 'utf8', signal }));
  return { path, raw: isRecord(raw) ? raw : {} };
}

/** The parser's own messages quote the text, and a kubeconfig holds tokens and keys. */
function parseYaml(path: string, text: string): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) throw notYaml(path, `, line ${lineCounter.linePos(error.pos[0]).line}`);
  try {
    return document.toJS();
  } catch {
    // An alias of nothing, which is quoted too.
    throw notYaml(path, '');
  }
}

function notYaml(path: string, where: string): Failure {
  const message = `The kubeconfig is not YAML (${path}${where}): correct it.`;
  return new Failure('KUBE_ACCESS_UNREADABLE', message);
}

/** The first of several entries with the same name counts, as in kubectl. */
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

async function headersOf(
  { user, userDir, tokenFile }: Selection,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const headers: Record<string, string> = {};
  if (user.impersonateUser) headers['impersonate-user'] = user.impersonateUser;
  // A file wins over the token beside it: that one is its copy from when the file was written.
  const token = tokenFile ? await readCredential(resolve(userDir, tokenFile), signal) : user.token;
  if (token) headers['authorization'] = `Bearer ${token.trim()}`;
  else if (user.username) {
    const pair = Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64');
    headers['authorization'] = `Basic ${pair}`;
  }
  return headers;
}

async function tlsOf(
  { cluster, clusterDir, user, userDir }: Selection,
  signal: AbortSignal,
): Promise<TlsMaterial> {
  const [ca, cert, key] = await Promise.all([
    pem(cluster.caData, cluster.caFile, clusterDir, signal),
    pem(user.certData, user.certFile, userDir, signal),
    pem(user.keyData, user.keyFile, userDir, signal),
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
  signal: AbortSignal,
): Promise<string | undefined> {
  if (data) return Buffer.from(data, 'base64').toString();
  return file ? readCredential(resolve(dir, file), signal) : undefined;
}

function certificate(cert: string | undefined, key: string | undefined): TlsMaterial {
  return cert !== undefined && key !== undefined ? { cert, key } : {};
}
