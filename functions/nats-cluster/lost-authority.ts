// Recovers when Secret <name>-tls is gone, and with it the key of an authority that clients trust,
// and no instance remembers it: servers keep the certificates in their configuration; the key has
// no copy, on purpose, so a successor signs in time.
import type { Reason } from '../../shared/kube/conditions.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { RecoveredAuthority } from '../../shared/stateful/certificates/managed.ts';
import { isOfOwner } from '../../shared/stateful/certificates/authorities.ts';
import {
  certificatesIn,
  dataOf,
  type SecretData,
} from '../../shared/stateful/certificates/secret-data.ts';
import { unfit } from '../../shared/stateful/certificates/unfit.ts';
import { isOurs } from '../../shared/stateful/parts.ts';
import { type Cluster, headlessHost, serverName, serviceHost } from './cluster.ts';
import { ownerOf } from './owner.ts';
import { reported } from './secret-data.ts';
import { TRUSTED } from './system-secret.ts';

export type Listener = 'clients' | 'routes';
export const LISTENERS: readonly Listener[] = ['clients', 'routes'];
export const TLS_SUFFIX = '-tls';

/** Other Secrets that still tell which certificates servers have. */
export interface KnownSecrets {
  readonly system: SecretData;
  readonly config: KubeObject | null;
}

export function recoverAuthority(
  nowMs: number,
  cluster: Cluster,
  { system, config }: KnownSecrets,
): RecoveredAuthority {
  const served = config !== null && isOurs(config, cluster) ? dataOf(config) : {};
  const ours = LISTENERS.filter((one) => isOfOurs(cluster, one, served, nowMs));
  if (ours.length > 0) return recovered(cluster, filesOf(served, ours), keyLost(cluster));
  // Clients trust these authorities, and nothing tells which certificates servers have of them.
  const had = certificatesIn(system[TRUSTED]).some((one) => isOfOwner(ownerOf(cluster), one));
  return recovered(cluster, {}, had ? allLost(cluster) : undefined);
}

function recovered(
  cluster: Cluster,
  data: SecretData,
  why: Reason | undefined,
): RecoveredAuthority {
  const lost = reported(cluster, why);
  return { data, ...(lost === undefined ? {} : { lost }) };
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
  return certificatesIn(ca).every((one) => isOfOwner(ownerOf(cluster), one));
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
