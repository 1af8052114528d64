// Certificates of the two listeners: the user's are checked before any server gets them; managed
// ones are made and renewed, in one Secret with their authority.
import { timestamp } from '../../shared/kube/timestamp.ts';
import { type Identity, issue, type Validity } from '../../shared/x509.ts';
import {
  OF_AUTHORITIES,
  authoritiesAt,
  DAY_MS,
  forDays,
  hasKey,
  hasSigner,
  successorOf,
} from './authorities.ts';
import { type Cluster, headlessHost, serviceHost } from './cluster.ts';
import type { CertificateFiles } from './credentials.ts';
import {
  hostOf,
  type Listener,
  LISTENERS,
  TLS_SUFFIX,
  type KnownSecrets,
  recoverAuthority,
} from './lost-authority.ts';
import {
  endsAtMs,
  newSecret,
  readData,
  readOwn,
  renewedSecret,
  type SecretData,
  type SecretsDeps,
  type SecretsRead,
} from './secret-data.ts';
import { unfit } from './unfit.ts';

export interface CertificatesRead extends SecretsRead {
  /** Undefined while a certificate is missing. */
  readonly files?: CertificateFiles;
}

const CERTIFICATE_DAYS = 90;
/** A third of its life: a cluster that nobody reconciled for weeks is still renewed in time. */
const RENEW_BEFORE_DAYS = 30;
/**
 * With the signing key lost, clients get most of the time that is left to fetch the next authority.
 */
const SUCCEED_BEFORE_DAYS = 7;

/** Nearly every cluster's; elsewhere clients use the shorter names. */
const CLUSTER_DOMAIN = 'cluster.local';

/** Certificates for both listeners are made together, wanted or not: one Secret, one age. */
export async function readManaged(
  deps: SecretsDeps,
  cluster: Cluster,
  listener: Listener,
  knownSecrets: KnownSecrets,
): Promise<CertificatesRead> {
  const { own, lacking } = await readOwn(deps, cluster, TLS_SUFFIX);
  if (lacking !== undefined) return { lacking };
  const { nowMs, kept } = deps;
  if (own === undefined) {
    const { data: left, lost } = recoverAuthority(deps, cluster, knownSecrets);
    return { toMake: newSecret(cluster, TLS_SUFFIX, dataAt(cluster, nowMs, left), lost) };
  }
  const { data: before } = own;
  const data = dataAt(cluster, nowMs, before);
  if (data !== before) return { toMake: renewedSecret(cluster, TLS_SUFFIX, own, data) };
  keep(kept, data);
  const files = {
    certificate: data[`${listener}.crt`] ?? '',
    key: data[`${listener}.key`] ?? '',
    ca: data['ca.crt'] ?? '',
  };
  return hasKey(data) ? { files } : { files, notice: noticeOf(cluster, data) };
}

/** Keeps our own fields of the Secret, since the keys in it have no copy. */
function keep(kept: SecretsDeps['kept'], data: SecretData): void {
  const names = [...OF_AUTHORITIES, ...LISTENERS.flatMap((one) => [`${one}.crt`, `${one}.key`])];
  const own = names.flatMap((name) => (data[name] === undefined ? [] : [[name, data[name]]]));
  kept?.set(TLS_SUFFIX, Object.fromEntries(own));
}

/** The wanted content of the Secret: the very same object when no certificate has to be renewed. */
function dataAt(cluster: Cluster, nowMs: number, before: SecretData): SecretData {
  const validity = forDays(nowMs, CERTIFICATE_DAYS);
  const issued = (by: Identity, listeners: readonly Listener[]): SecretData =>
    Object.assign(
      {},
      ...listeners.map((one) => filesOf(one, issueFor(cluster, one, by, validity))),
    );
  const lasting = LISTENERS.filter((one) => lasts(before, one, nowMs));
  const canSign = hasSigner(before);
  if (canSign && lasting.length === LISTENERS.length) return before;
  if (canSign || lasting.length === 0) {
    const { signer, data } = authoritiesAt(cluster, nowMs, CERTIFICATE_DAYS, before);
    return { ...data, ...issued(signer, LISTENERS) };
  }
  const { signer, data } = successorOf(cluster, nowMs, before);
  const stays = lasting.map((one) =>
    filesOf(one, { certPem: before[`${one}.crt`] ?? '', keyPem: before[`${one}.key`] ?? '' }),
  );
  const others = LISTENERS.filter((one) => !lasting.includes(one));
  return Object.assign({}, data, ...stays, issued(signer, others));
}

function lasts(data: SecretData, listener: Listener, nowMs: number): boolean {
  const { [`${listener}.crt`]: certificate, [`${listener}.key`]: key = '' } = data;
  return key !== '' && renewedAtMs(data, certificate) > nowMs;
}

const renewedAtMs = (data: SecretData, certificate: string | undefined): number =>
  endsAtMs(certificate) - (hasKey(data) ? RENEW_BEFORE_DAYS : SUCCEED_BEFORE_DAYS) * DAY_MS;

const filesOf = (listener: Listener, { certPem, keyPem }: Identity): SecretData => ({
  [`${listener}.crt`]: certPem,
  [`${listener}.key`]: keyPem,
});

function issueFor(
  cluster: Cluster,
  listener: Listener,
  by: Identity,
  validity: Validity,
): Identity {
  const hosts = listener === 'clients' ? clientNames(cluster) : routeNames(cluster);
  return issue(by, { commonName: hosts[0], hosts }, validity);
}

function noticeOf({ name }: Cluster, data: SecretData): string {
  const ends = LISTENERS.map((one) => renewedAtMs(data, data[`${one}.crt`]));
  const day = timestamp(Math.min(...ends)).slice(0, 10);
  return (
    `From ${day} on another authority signs for its servers: whoever has a copy of ca.crt of ` +
    `Secret ${name}${TLS_SUFFIX} fetches it anew before.`
  );
}

function clientNames(cluster: Cluster): readonly [string, ...string[]] {
  const service = serviceHost(cluster);
  const headless = headlessHost(cluster);
  const { name, namespace } = cluster;
  return [
    service,
    `${service}.${CLUSTER_DOMAIN}`,
    `${name}.${namespace}`,
    name,
    `*.${headless}`,
    'localhost',
  ];
}

function routeNames(cluster: Cluster): readonly [string, ...string[]] {
  const headless = headlessHost(cluster);
  return [`*.${headless}`, headless];
}

/** Reads the user's certificate, and refuses one for another name: clients would be cut off. */
export async function readByo(
  deps: SecretsDeps,
  cluster: Cluster,
  listener: Listener,
  name: string,
): Promise<CertificatesRead> {
  const data = await readData(deps, cluster, name);
  const where = `Secret ${cluster.namespace}/${name}, which spec.tls.${listener} names,`;
  const missing = ['tls.crt', 'tls.key', 'ca.crt'].filter((key) => (data?.[key] ?? '') === '');
  const [certificate = '', key = '', ca = ''] = ['tls.crt', 'tls.key', 'ca.crt'].map(
    (one) => data?.[one],
  );
  const why =
    missing.length > 0
      ? `has no ${missing.join(' and no ')}`
      : unfit({ certificate, key, ca }, hostOf(cluster, listener), deps.nowMs);
  if (why === undefined) return { files: { certificate, key, ca } };
  return { lacking: { reason: 'CertificateUnfit', message: `${where} ${why}.` } };
}
