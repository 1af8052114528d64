// The certificates of a cluster: those that members show to clients and one for clients, and those
// that members show to each other. Each of the two uses has an authority of its own, so that no
// client can pose as a member.
import type { Reason } from '../../shared/kube/conditions.ts';
import { isOfOwner } from '../../shared/stateful/certificates/authorities.ts';
import {
  type CertificatesRead,
  type Managed,
  readGiven,
  readManaged,
  type RecoveredAuthority,
} from '../../shared/stateful/certificates/managed.ts';
import {
  type CertificateFiles,
  certificatesIn,
  dataOf,
  readOwn,
  type SecretData,
  type SecretsDeps,
  type SecretToMake,
} from '../../shared/stateful/certificates/secret-data.ts';
import { unfit } from '../../shared/stateful/certificates/unfit.ts';
import { TLS_SUFFIX } from '../../shared/api/etcd-names.ts';
import { firstHost, HOSTS, type Listener } from './certificate-hosts.ts';
import type { Cluster } from './cluster.ts';
import { ownerOf } from './owner.ts';
import { authoritiesHash, isTrusted, type Shown, type Trusts } from './trust.ts';

/** Undefined where the cluster speaks without TLS. */
export interface CertificateSets {
  readonly clients:
    | {
        readonly server: CertificateFiles;
        readonly client: CertificateFiles;
        /** Made for the user: his own has the key of the members, which no client is given. */
        readonly isManaged: boolean;
      }
    | undefined;
  readonly peers: CertificateFiles | undefined;
}

export interface SetsRead {
  /** Undefined while one is missing. */
  readonly sets?: CertificateSets;
  readonly toMake?: SecretToMake;
  readonly lacking?: Reason;
  /** Why a Secret of the user's is not taken, while the members keep what they have. */
  readonly refused?: Reason;
  /** A task of the clients that has a date, for people. */
  readonly notice?: string;
}

type Use = 'clients' | 'peers';

const CLIENT_SUFFIX = '-client';

export interface CertificatesDeps extends SecretsDeps {
  readonly trusts: Trusts;
}

export async function readCertificates(
  deps: CertificatesDeps,
  cluster: Cluster,
): Promise<SetsRead> {
  const { clients, peers } = cluster.spec.tls;
  const served = await readServed(deps, cluster);
  const wanted: readonly Listener[] = [
    ...(clients.mode === 'Mutual' ? (['server', 'client'] as const) : []),
    ...(peers.mode === 'Mutual' ? (['peer'] as const) : []),
  ];
  const files: Partial<Record<Listener, CertificateFiles>> = {};
  let notices: Pick<SetsRead, 'notice' | 'refused'> = {};
  for (const listener of wanted) {
    const found = await readOne(deps, cluster, listener, served);
    const { files: read, ...rest } = keepServed(deps, cluster, { found, listener, served });
    if (read === undefined) return rest;
    files[listener] = read;
    notices = { ...notices, ...rest };
  }
  const { server, client, peer } = files;
  const isManaged =
    clients.secretName === undefined || client?.certificate === served['client.crt'];
  const forClients =
    server === undefined || client === undefined ? undefined : { server, client, isManaged };
  return { ...notices, sets: { clients: forClients, peers: peer } };
}

interface Found {
  readonly found: CertificatesRead;
  readonly listener: Listener;
  readonly served: SecretData;
}

/** One of the user's that is refused holds up nobody who can go on with what is there. */
function keepServed(
  { nowMs }: SecretsDeps,
  cluster: Cluster,
  { found, listener, served }: Found,
): CertificatesRead & Pick<SetsRead, 'refused'> {
  const use: Use = listener === 'peer' ? 'peers' : 'clients';
  const { lacking } = found;
  if (lacking === undefined || cluster.spec.tls[use].secretName === undefined) return found;
  // Where it was the user's before, the members show theirs in both roles.
  const isTheirs = listener === 'client' && served['client.crt'] === undefined;
  const of = isTheirs ? 'server' : listener;
  const files = servedFiles(served, of);
  return unfit(files, firstHost(cluster, of), nowMs) === undefined
    ? { files, refused: lacking }
    : found;
}

/** Reads the one that the spec names; without a name it is made and renewed. */
async function readOne(
  deps: CertificatesDeps,
  cluster: Cluster,
  listener: Listener,
  served: SecretData,
): Promise<CertificatesRead> {
  const { namespace, spec } = cluster;
  const use: Use = listener === 'peer' ? 'peers' : 'clients';
  const { secretName } = spec.tls[use];
  const field = `spec.tls.${use}`;
  if (secretName !== undefined) {
    const of = use === 'peers' ? 'peer' : 'server';
    const read = await readGiven(deps, {
      namespace,
      secretName,
      field,
      host: firstHost(cluster, of),
    });
    return refuseUntrusted(deps, cluster, { read, of, field, served });
  }
  const gone = await authorityGone(deps, cluster, use, served);
  if (gone !== undefined) return { lacking: gone };
  const read = await readManaged(deps, managedOf(deps, cluster, use, served), listener);
  if (read.toMake?.why !== 'Renew') return read;
  const data = dataOf(read.toMake.manifest);
  const after = { certificate: data[`${listener}.crt`] ?? '', key: data[`${listener}.key`] ?? '' };
  const before = servedFiles(served, listener);
  return mayShow(deps, cluster, { before, after, of: listener, served }) ? read : { files: before };
}

const servedFiles = (served: SecretData, of: Listener): CertificateFiles => ({
  certificate: served[`${of}.crt`] ?? '',
  key: served[`${of}.key`] ?? '',
  ca: served[`${of}-ca.crt`] ?? '',
});

/**
 * Members read an authority when they start, and certificates at once: one that they do not trust
 * yet would cut them off from each other, and no restart in turn could begin.
 */
function mayShow(
  { nowMs, trusts }: CertificatesDeps,
  cluster: Cluster,
  { before, after, of, served }: Pick<Shown, 'before' | 'after'> & Pick<Given, 'of' | 'served'>,
): boolean {
  const host = firstHost(cluster, of);
  const serves = unfit(before, host, nowMs) === undefined;
  if (cluster.status.clusterId === undefined || !serves) return true;
  const hash = authoritiesHash(served['server-ca.crt'], served['peer-ca.crt']);
  return isTrusted({ before, after, host, nowMs }, trusts(hash));
}

interface Given {
  readonly read: CertificatesRead;
  readonly of: Listener;
  readonly field: string;
  readonly served: SecretData;
}

function refuseUntrusted(
  deps: CertificatesDeps,
  cluster: Cluster,
  { read, of, field, served }: Given,
): CertificatesRead {
  const before = servedFiles(served, of);
  const { files: after } = read;
  if (after === undefined || mayShow(deps, cluster, { before, after, of, served })) return read;
  const message =
    `The certificate that ${field} names is signed by an authority that the members do not ` +
    'trust yet. Keep the former certificate, with both authorities in its ca.crt, until all ' +
    'members have restarted; then put in the new one.';
  return { lacking: { reason: 'CertificateUntrusted', message } };
}

/** Nothing tells the authority of members that run: another one would cut them off. */
async function authorityGone(
  deps: SecretsDeps,
  cluster: Cluster,
  use: Use,
  served: SecretData,
): Promise<Reason | undefined> {
  const { status, spec, name } = cluster;
  const managed = managedOf(deps, cluster, use, served);
  if (status.clusterId === undefined || spec.replicas === 0) return undefined;
  if (deps.kept?.has(managed.suffix) === true) return undefined;
  if (managed.recover().data['ca.crt'] !== undefined) return undefined;
  const { own, lacking } = await readOwn(deps, managed.owner, managed.suffix);
  if (own !== undefined || lacking !== undefined) return undefined;
  const message =
    `Secrets ${name}${managed.suffix} and ${name}${TLS_SUFFIX} are gone, and with them the ` +
    'authority of the members, which go on with what they have. Set spec.replicas to 0 until ' +
    'their pods are gone, and back: then another authority is made for all of them together.';
  return { reason: 'AuthorityGone', message };
}

function managedOf(
  { nowMs }: SecretsDeps,
  cluster: Cluster,
  use: Use,
  served: SecretData,
): Managed<Listener> {
  const listeners: readonly Listener[] = use === 'peers' ? ['peer'] : ['server', 'client'];
  return {
    owner: ownerOf(cluster),
    suffix: `-${use}-ca`,
    listeners: listeners.map((listener) => ({
      listener,
      hosts: HOSTS[listener](cluster),
      // etcd takes the common name of a client for a user, and its own for that of a gateway.
      isNameless: use === 'clients',
    })),
    recover: () => recover(cluster, listeners, served, nowMs),
  };
}

/** Reads what members and clients have: it outlives the Secret with the authority's key. */
async function readServed(deps: SecretsDeps, cluster: Cluster): Promise<SecretData> {
  const owner = ownerOf(cluster);
  const { own: members } = await readOwn(deps, owner, TLS_SUFFIX);
  const { own: clients } = await readOwn(deps, owner, CLIENT_SUFFIX);
  const { data: of = {} } = members ?? {};
  const { data: ofClient = {} } = clients ?? {};
  return withoutHoles({
    'server.crt': of['clients.crt'],
    'server.key': of['clients.key'],
    'server-ca.crt': of['clients-ca.crt'],
    'client.crt': ofClient['tls.crt'],
    'client.key': ofClient['tls.key'],
    'client-ca.crt': ofClient['ca.crt'],
    'peer.crt': of['peers.crt'],
    'peer.key': of['peers.key'],
    'peer-ca.crt': of['peers-ca.crt'],
  });
}

const withoutHoles = (fields: Readonly<Record<string, string | undefined>>): SecretData =>
  Object.fromEntries(Object.entries(fields).flatMap(([key, text]) => (text ? [[key, text]] : [])));

/**
 * Members trust the authority of their certificates until they restart. So these stay, and another
 * authority signs only when all members have been told to trust it.
 */
function recover(
  cluster: Cluster,
  listeners: readonly Listener[],
  served: SecretData,
  nowMs: number,
): RecoveredAuthority {
  const left = listeners.filter((one) => isLeft(cluster, one, served, nowMs));
  if (left.length === 0) return { data: {} };
  const bundle = new Set(left.flatMap((one) => certificatesIn(served[`${one}-ca.crt`])));
  const files = left.flatMap((one) =>
    ['crt', 'key'].map((kind) => [`${one}.${kind}`, served[`${one}.${kind}`] ?? ''] as const),
  );
  const data = { 'ca.crt': [...bundle].join(''), ...Object.fromEntries(files) };
  return { data, lost: keyLost(cluster, listeners) };
}

function isLeft(cluster: Cluster, listener: Listener, served: SecretData, nowMs: number): boolean {
  const [certificate = '', key = '', ca = ''] = ['.crt', '.key', '-ca.crt'].map(
    (end) => served[`${listener}${end}`],
  );
  if (unfit({ certificate, key, ca }, firstHost(cluster, listener), nowMs) !== undefined) {
    return false;
  }
  return certificatesIn(ca).every((one) => isOfOwner(ownerOf(cluster), one));
}

function keyLost({ name }: Cluster, [first]: readonly Listener[]): Reason {
  const use = first === 'peer' ? 'peers' : 'clients';
  return {
    reason: 'AuthorityLost',
    message:
      `Secret ${name}-${use}-ca was gone, and the key of its authority with it. Members keep ` +
      'their certificates, and ca.crt has the next authority beside the former: whoever has a ' +
      'copy of it fetches it anew. Ready says until when.',
  };
}
