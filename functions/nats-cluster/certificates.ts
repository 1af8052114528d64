// Certificates for the two listeners: those of the user, looked at before any server gets them, and
// those that we make and renew, in one Secret with their authority.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type Identity, issue } from '../../shared/x509.ts';
import { authoritiesAt, DAY_MS, forDays } from './authorities.ts';
import { type Cluster, headlessHost, serverName, serviceHost } from './cluster.ts';
import type { CertificateFiles } from './credentials.ts';
import {
  certificatesIn,
  endsAtMs,
  newSecret,
  readData,
  readOwn,
  renewedSecret,
  type SecretData,
  type SecretsDoor,
  type SecretsRead,
} from './secret-data.ts';

const CERTIFICATE_DAYS = 90;
/** A third of its life: whoever was away for weeks still finds time. */
const RENEW_BEFORE_DAYS = 30;

/** Nearly every cluster's; elsewhere clients use the shorter names. */
const CLUSTER_DOMAIN = 'cluster.local';

type Listener = 'clients' | 'routes';
const LISTENERS: readonly Listener[] = ['clients', 'routes'];

const SUFFIX = '-tls';

/** Certificates for both listeners are made together, wanted or not: one Secret, one age. */
export async function readManaged(
  door: SecretsDoor,
  cluster: Cluster,
  listener: Listener,
): Promise<SecretsRead | CertificateFiles> {
  const { own, lacking } = await readOwn(door, cluster, SUFFIX);
  if (lacking !== undefined) return { lacking };
  const { nowMs } = door;
  if (own === undefined) {
    return { toMake: newSecret(cluster, SUFFIX, issueAll(cluster, nowMs)) };
  }
  const { data } = own;
  if (!isFresh(data, nowMs)) {
    return { toMake: renewedSecret(cluster, SUFFIX, own, issueAll(cluster, nowMs, data)) };
  }
  return {
    certificate: data[`${listener}.crt`] ?? '',
    key: data[`${listener}.key`] ?? '',
    ca: data['ca.crt'] ?? '',
  };
}

const isFresh = (data: SecretData, nowMs: number): boolean =>
  LISTENERS.every((one) => endsAtMs(data[`${one}.crt`]) - nowMs > RENEW_BEFORE_DAYS * DAY_MS);

function issueAll(cluster: Cluster, nowMs: number, before?: SecretData): SecretData {
  const { signer, data } = authoritiesAt(cluster, nowMs, CERTIFICATE_DAYS, before);
  const validity = forDays(nowMs, CERTIFICATE_DAYS);
  const issued = (hosts: readonly [string, ...string[]]): Identity =>
    issue(signer, { commonName: hosts[0], hosts }, validity);
  const clients = issued(clientNames(cluster));
  const routes = issued(routeNames(cluster));
  return {
    ...data,
    'clients.crt': clients.certPem,
    'clients.key': clients.keyPem,
    'routes.crt': routes.certPem,
    'routes.key': routes.keyPem,
  };
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

/** A certificate that is not for the right name would cut the servers off from everybody. */
export async function readByo(
  door: SecretsDoor,
  cluster: Cluster,
  listener: Listener,
  name: string,
): Promise<SecretsRead | CertificateFiles> {
  const data = await readData(door, cluster, name);
  const where = `Secret ${cluster.namespace}/${name}, which spec.tls.${listener} names,`;
  const missing = ['tls.crt', 'tls.key', 'ca.crt'].filter((key) => (data?.[key] ?? '') === '');
  const [certificate = '', key = '', ca = ''] = ['tls.crt', 'tls.key', 'ca.crt'].map(
    (one) => data?.[one],
  );
  const host =
    listener === 'clients'
      ? serviceHost(cluster)
      : `${serverName(cluster, 0)}.${headlessHost(cluster)}`;
  const why =
    missing.length > 0
      ? `has no ${missing.join(' and no ')}`
      : unfit({ certificate, key, ca }, host, door.nowMs);
  if (why === undefined) return { certificate, key, ca };
  return { lacking: { reason: 'CertificateUnfit', message: `${where} ${why}.` } };
}

function unfit(
  { certificate, key, ca }: CertificateFiles,
  host: string,
  nowMs: number,
): string | undefined {
  try {
    const parsed = new X509Certificate(certificate);
    if (parsed.checkHost(host) === undefined) return `has a certificate that is not for ${host}`;
    if (parsed.validToDate.getTime() < nowMs) return 'has a certificate that has expired';
    if (!isSignedIn(certificate, ca)) return 'has a certificate that nobody in its ca.crt signed';
    return parsed.checkPrivateKey(createPrivateKey(key))
      ? undefined
      : 'has a key that does not belong to its certificate';
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `has no certificate and key that can be read (${reason})`;
  }
}

/** By an authority, or by one of those between that stand with it, whom one of them signed. */
function isSignedIn(certificate: string, ca: string): boolean {
  const [own, ...between] = certificatesIn(certificate).map((one) => new X509Certificate(one));
  const authorities = certificatesIn(ca).map((one) => new X509Certificate(one));
  const hasSigned = (one: X509Certificate, by: X509Certificate): boolean =>
    one.checkIssued(by) && one.verify(by.publicKey);
  let last = own;
  for (let links = 0; last !== undefined && links <= between.length; links += 1) {
    const signed = last;
    // Who is believed himself needs nobody.
    const isKnown = authorities.some((one) => one.raw.equals(signed.raw) || hasSigned(signed, one));
    if (isKnown) return true;
    last = between.find((one) => one !== signed && hasSigned(signed, one));
  }
  return false;
}
