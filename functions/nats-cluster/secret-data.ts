// Secrets as text: read by name, and rendered as parts of the cluster.
import { X509Certificate } from 'node:crypto';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { isRecord } from '../../shared/kube/json.ts';
import type { KubeObject, Manifest } from '../../shared/kube/objects.ts';
import { isOurs, nameTaken, owned, SECRETS } from '../../shared/stateful/parts.ts';
import type { Cluster } from './cluster.ts';
import type { Credentials } from './credentials.ts';
import { ownerOf } from './owner.ts';
import type { KnownPasswords } from './render/read-back.ts';
import type { SecretToMake } from './state.ts';

export interface SecretsRead {
  readonly system?: OwnSecret;
  readonly systemPassword?: string;
  /** Former passwords that a server may still have. */
  readonly formerPasswords?: readonly string[];
  /** Authorities of all certificates that servers may have now. */
  readonly trustedCa?: string;
  /** Pods, by uid, that may speak plain although the configuration says TLS. */
  readonly beforeTls?: readonly string[];
  /** A task of the clients that has a date, for people. */
  readonly notice?: string;
  readonly toMake?: SecretToMake;
  readonly lacking?: Reason;
  readonly credentials?: Credentials;
}

export interface SecretsDeps {
  readonly kube: KubeClient;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Passwords that servers were given when the configuration was last there. */
  readonly known?: KnownPasswords | undefined;
  /** The servers' pods, by uid. */
  readonly running?: readonly string[];
  /** A server was reached with TLS since the configuration says so. */
  readonly hasSeenTls?: boolean | undefined;
  /** Collects the versions of the cluster's own Secrets, by name. */
  readonly versions?: Map<string, string>;
  /** Content of Secrets that have no copy elsewhere, as last read, by the end of their names. */
  readonly kept?: Map<string, SecretData> | undefined;
}

export type SecretData = Readonly<Record<string, string>>;

/** A Secret of the cluster's own, as read. */
export interface OwnSecret {
  readonly data: SecretData;
  readonly resourceVersion: string;
}

/**
 * Reads a Secret of the cluster's own, by the end of its name. A foreign one is never overwritten,
 * and one of a former NatsCluster of this name holds passwords that go with it.
 */
export async function readOwn(
  { kube, signal, versions }: SecretsDeps,
  cluster: Cluster,
  suffix: string,
): Promise<{ readonly own?: OwnSecret; readonly lacking?: Reason }> {
  const target = { namespace: cluster.namespace, name: `${cluster.name}${suffix}` };
  const secret = await kube.get(SECRETS, target, { signal });
  if (secret === null) return {};
  if (!isOurs(secret, cluster)) return { lacking: nameTaken(secret) };
  versions?.set(target.name, secret.metadata.resourceVersion);
  return { own: { data: dataOf(secret), resourceVersion: secret.metadata.resourceVersion } };
}

/** Reads a Secret of the user's; undefined when there is none. */
export async function readData(
  { kube, signal }: SecretsDeps,
  { namespace }: Pick<Cluster, 'namespace'>,
  name: string,
): Promise<SecretData | undefined> {
  const secret = await kube.get(SECRETS, { namespace, name }, { signal });
  return secret === null ? undefined : dataOf(secret);
}

/** Secrets hold their values in base64. */
export function dataOf(secret: KubeObject): SecretData {
  const data = isRecord(secret['data']) ? secret['data'] : {};
  const decoded = Object.entries(data).map(([key, value]) => [
    key,
    Buffer.from(String(value), 'base64').toString(),
  ]);
  return Object.fromEntries(decoded);
}

/** Reports `lost` only where servers exist, since these have another password or authority. */
export const newSecret = (
  cluster: Cluster,
  suffix: string,
  data: SecretData,
  lost?: Reason,
): SecretToMake => ({
  why: 'Create',
  ...(lost !== undefined && (cluster.status.servers ?? []).length > 0 ? { lost } : {}),
  ref: SECRETS,
  manifest: manifestOf(cluster, suffix, data),
});

export const passwordLost = ({ name }: Cluster, suffix: string): Reason => ({
  reason: 'PasswordLost',
  message:
    `Secret ${name}${suffix} was gone, and so was what told its passwords: it has new ones. ` +
    'Whoever had them from it fetches them anew; servers take the former ones until they are ' +
    'reloaded.',
});

/** Applies on condition that the Secret is as it was read, so that an edit made meanwhile stays. */
export function renewedSecret(
  cluster: Cluster,
  suffix: string,
  { resourceVersion }: OwnSecret,
  data: SecretData,
): SecretToMake {
  const manifest = manifestOf(cluster, suffix, data);
  const metadata = { ...manifest.metadata, resourceVersion };
  return { why: 'Renew', ref: SECRETS, manifest: { ...manifest, metadata } };
}

function manifestOf(cluster: Cluster, suffix: string, data: SecretData): Manifest {
  const encoded = Object.entries(data).map(([key, value]) => [
    key,
    Buffer.from(value).toString('base64'),
  ]);
  const body = { type: 'Opaque', data: Object.fromEntries(encoded) };
  return owned(ownerOf(cluster), 'v1', 'Secret', `${cluster.name}${suffix}`, body);
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Splits a bundle into its certificates, each with a line end. */
export const certificatesIn = (pem = ''): readonly string[] =>
  [...pem.matchAll(CERTIFICATE)].map(([one]) => `${one}\n`);

/**
 * The end of its validity, in milliseconds since the epoch; NaN for text that is no certificate.
 */
export function endsAtMs(certificate: string | undefined): number {
  if (certificate === undefined) return Number.NaN;
  try {
    return new X509Certificate(certificate).validToDate.getTime();
  } catch {
    return Number.NaN;
  }
}
