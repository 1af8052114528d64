// Recovers when Secret <name>-tls is gone, and with it the key of an authority that clients trust.
// While this instance remembers it, the Secret comes back as it was. Else servers keep the
// certificates in their configuration; the key has no copy, on purpose, so a successor signs in
// time.
import type { Reason } from '../../shared/kube/conditions.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { isOurs } from '../../shared/stateful/parts.ts';
import { isOfCluster } from './authorities.ts';
import { type Cluster, headlessHost, serverName, serviceHost } from './cluster.ts';
import { certificatesIn, dataOf, type SecretData, type SecretsDeps } from './secret-data.ts';
import { TRUSTED } from './system-secret.ts';
import { unfit } from './unfit.ts';

export type Listener = 'clients' | 'routes';
export const LISTENERS: readonly Listener[] = ['clients', 'routes'];
export const TLS_SUFFIX = '-tls';

/** Other Secrets that still tell which certificates servers have. */
export interface KnownSecrets {
  readonly system: SecretData;
  readonly config: KubeObject | null;
}

export interface RecoveredAuthority {
  readonly data: SecretData;
  /** Set when clients have to fetch the authority again. */
  readonly lost?: Reason;
}

export function recoverAuthority(
  { kept, nowMs }: SecretsDeps,
  cluster: Cluster,
  { system, config }: KnownSecrets,
): RecoveredAuthority {
  const remembered = kept?.get(TLS_SUFFIX);
  if (remembered !== undefined) return { data: remembered };
  const served = config !== null && isOurs(config, cluster) ? dataOf(config) : {};
  const ours = LISTENERS.filter((one) => isOfOurs(cluster, one, served, nowMs));
  if (ours.length > 0) return { data: filesOf(served, ours), lost: keyLost(cluster) };
  // Clients trust these authorities, and nothing tells which certificates servers have of them.
  const had = certificatesIn(system[TRUSTED]).some((one) => isOfCluster(cluster, one));
  return { data: {}, ...(had ? { lost: allLost(cluster) } : {}) };
}

/** True when servers have a managed certificate here that they can go on with. */
function isOfOurs(
  cluster: Cluster,
  listener: Listener,
  served: SecretData,
  nowMs: number,
): boolean {
  const { certificate = '', key = '', ca = '' } = fileNames(listener, served);
  if (unfit({ certificate, key, ca }, hostOf(cluster, listener), nowMs) !== undefined) return false;
  return certificatesIn(ca).every((one) => isOfCluster(cluster, one));
}

const fileNames = (listener: Listener, served: SecretData) => ({
  certificate: served[`${listener}.crt`],
  key: served[`${listener}.key`],
  ca: served[`${listener}-ca.crt`],
});

function filesOf(served: SecretData, listeners: readonly Listener[]): SecretData {
  const bundle = new Set(listeners.flatMap((one) => certificatesIn(served[`${one}-ca.crt`])));
  const files = listeners.flatMap((one) =>
    ['crt', 'key'].map((kind) => [`${one}.${kind}`, served[`${one}.${kind}`] ?? ''] as const),
  );
  return { 'ca.crt': [...bundle].join(''), ...Object.fromEntries(files) };
}

/** A host name that the certificate must cover. */
export const hostOf = (cluster: Cluster, listener: Listener): string =>
  listener === 'clients'
    ? serviceHost(cluster)
    : `${serverName(cluster, 0)}.${headlessHost(cluster)}`;

const keyLost = ({ name }: Cluster): Reason => ({
  reason: 'AuthorityLost',
  message:
    `Secret ${name}${TLS_SUFFIX} was gone, and the key of its authority with it. Servers keep ` +
    'their certificates, and ca.crt has the next authority beside the former: whoever has a copy ' +
    'of it fetches it anew. Ready says until when.',
});

const allLost = ({ name }: Cluster): Reason => ({
  reason: 'AuthorityLost',
  message:
    `Secret ${name}${TLS_SUFFIX} was gone, and so was what told its authority: another one signs ` +
    'at once. Whoever has a copy of ca.crt fetches it anew.',
});
