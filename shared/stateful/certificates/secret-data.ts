// Secrets as text: read by name, and rendered as parts of their owner.
import { randomBytes, X509Certificate } from 'node:crypto';
import type { Reason } from '../../kube/conditions.ts';
import { isRecord } from '../../kube/json.ts';
import { isEnding, type KubeObject, type Manifest, type ResourceRef } from '../../kube/objects.ts';
import { isOurs, nameTaken, owned, type Owner, SECRETS } from '../parts.ts';
import type { KubeReader } from '../read-once.ts';

export interface SecretsDeps {
  readonly kube: KubeReader;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Collects the versions of the owner's own Secrets, by name. */
  readonly versions?: Map<string, string>;
  /** Collects the uids of those that are to stay, by name. */
  readonly secretUids?: Map<string, string>;
  /** Content of Secrets that have no copy elsewhere, as last read, by the end of their names. */
  readonly kept?: Map<string, SecretData> | undefined;
}

export type SecretData = Readonly<Record<string, string>>;

/** A Secret of the owner's own, as read. */
export interface OwnSecret {
  readonly data: SecretData;
  readonly resourceVersion: string;
}

/** A Secret to create or renew. */
export interface SecretToMake {
  readonly why: 'Create' | 'Renew';
  /** Set when it existed before and no copy of its content is left but with servers and clients. */
  readonly lost?: Reason;
  readonly ref: ResourceRef;
  readonly manifest: Manifest;
}

/** As PEM. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
  readonly ca: string;
}

/**
 * Reads a Secret of the owner's own, by the end of its name. A foreign one is never overwritten,
 * and one of a former owner of this name holds passwords that go with it.
 */
export async function readOwn(
  { kube, signal, versions, secretUids }: SecretsDeps,
  owner: Pick<Owner, 'namespace' | 'name' | 'uid'>,
  suffix: string,
): Promise<{ readonly own?: OwnSecret; readonly lacking?: Reason }> {
  const target = { namespace: owner.namespace, name: `${owner.name}${suffix}` };
  const secret = await kube.get(SECRETS, target, { signal });
  if (secret === null) return {};
  if (!isOurs(secret, owner)) return { lacking: nameTaken(secret) };
  versions?.set(target.name, secret.metadata.resourceVersion);
  if (!isEnding(secret)) secretUids?.set(target.name, secret.metadata.uid);
  return { own: { data: dataOf(secret), resourceVersion: secret.metadata.resourceVersion } };
}

/** Reads a Secret of the user's; undefined when there is none. */
export async function readData(
  { kube, signal }: SecretsDeps,
  { namespace }: Pick<Owner, 'namespace'>,
  name: string,
): Promise<SecretData | undefined> {
  const secret = await kube.get(SECRETS, { namespace, name }, { signal });
  return secret === null ? undefined : dataOf(secret);
}

/** Secrets hold their values in base64. */
export function dataOf(secret: KubeObject | Manifest): SecretData {
  const data = isRecord(secret['data']) ? secret['data'] : {};
  const decoded = Object.entries(data).map(([key, value]) => [
    key,
    Buffer.from(String(value), 'base64').toString(),
  ]);
  return Object.fromEntries(decoded);
}

export const encoded = (data: SecretData): SecretData =>
  Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );

export const newSecret = (
  owner: Owner,
  suffix: string,
  data: SecretData,
  lost?: Reason,
): SecretToMake => ({
  why: 'Create',
  ...(lost === undefined ? {} : { lost }),
  ref: SECRETS,
  manifest: secretManifest(owner, suffix, data),
});

/** Applies on condition that the Secret is as it was read, so that an edit made meanwhile stays. */
export function renewedSecret(
  owner: Owner,
  suffix: string,
  { resourceVersion }: OwnSecret,
  data: SecretData,
): SecretToMake {
  const manifest = secretManifest(owner, suffix, data);
  const metadata = { ...manifest.metadata, resourceVersion };
  return { why: 'Renew', ref: SECRETS, manifest: { ...manifest, metadata } };
}

export function secretManifest(owner: Owner, suffix: string, data: SecretData): Manifest {
  const body = { type: 'Opaque', data: encoded(data) };
  return owned(owner, 'v1', 'Secret', `${owner.name}${suffix}`, body);
}

/** 24 random bytes as text that needs no quoting anywhere. */
export const newPassword = (): string => randomBytes(24).toString('base64url');

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

/** Undefined where none of them is a certificate. */
export function firstEndMs(certificates: readonly (string | undefined)[]): number | undefined {
  const known = certificates.map(endsAtMs).filter((end) => !Number.isNaN(end));
  return known.length === 0 ? undefined : Math.min(...known);
}
