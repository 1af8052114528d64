// In which version an API server stores a kind from now on, as its discovery announces it. It may
// announce for a moment what it does not write yet.
import { createHash } from 'node:crypto';
import type { KubeClient } from './client.ts';
import { isKubeError } from './errors.ts';
import type { ResourceRef } from './objects.ts';
import type { CallOptions } from './request.ts';

interface ServedResource {
  readonly name: string;
  readonly kind: string;
  /** The hash of the version that is written: of group, version and kind. */
  readonly storageVersionHash?: string;
}

/** The discovery entry of one resource in one version. */
export async function servedResource(
  kube: KubeClient,
  { group, version, resource }: ResourceRef,
  options: CallOptions,
): Promise<ServedResource | undefined> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const list = await readJson<{ readonly resources: readonly ServedResource[] }>(
    kube,
    path,
    options,
  );
  return list?.resources.find(({ name }) => name === resource);
}

/** The preferred one first. */
export async function servedVersions(
  kube: KubeClient,
  group: string,
  options: CallOptions,
): Promise<readonly string[]> {
  if (group === '') return ['v1'];
  const path = `/apis/${group}`;
  const found = await readJson<{ readonly versions: readonly { readonly version: string }[] }>(
    kube,
    path,
    options,
  );
  return (found?.versions ?? []).map(({ version }) => version);
}

/** As the API server reckons it for discovery. */
export const storageVersionHash = (group: string, version: string, kind: string): string =>
  createHash('sha256')
    .update(`${group}/${version}/${kind}`)
    .digest()
    .subarray(0, HASH_BYTES)
    .toString('base64');

const HASH_BYTES = 8;

export interface StoredKind {
  /** A version that is served; the stored one where it is served. */
  readonly ref: ResourceRef;
  readonly kind: string;
  readonly version: string;
}

/**
 * Whether it announces that it stores this version now. It does so of the stored version alone;
 * where that is not served, of none.
 */
export async function announces(
  kube: KubeClient,
  { ref, kind, version }: StoredKind,
  options: CallOptions,
): Promise<boolean> {
  const found = await servedResource(kube, ref, options);
  if (found === undefined) return false;
  if (ref.version !== version) return found.storageVersionHash === undefined;
  return found.storageVersionHash === storageVersionHash(ref.group, version, kind);
}

export interface AnnouncedVersion {
  readonly version: string;
  /** Its group has no other one. */
  readonly isOnly: boolean;
}

/**
 * The version that it announces to store; undefined where it says none that it serves, or does not
 * say it to everybody.
 */
export async function announcedVersion(
  kube: KubeClient,
  { group, resource }: Pick<ResourceRef, 'group' | 'resource'>,
  options: CallOptions,
): Promise<AnnouncedVersion | undefined> {
  try {
    const versions = await servedVersions(kube, group, options);
    const [preferred = ''] = versions;
    const ref = { group, version: preferred, resource };
    const { kind = '', storageVersionHash: hash } =
      (await servedResource(kube, ref, options)) ?? {};
    const version = versions.find((one) => storageVersionHash(group, one, kind) === hash);
    return version === undefined ? undefined : { version, isOnly: versions.length === 1 };
  } catch (error) {
    if (isKubeError(error, 'KUBE_FORBIDDEN')) return undefined;
    throw error;
  }
}

async function readJson<Result>(
  kube: KubeClient,
  path: string,
  options: CallOptions,
): Promise<Result | undefined> {
  try {
    const { text } = await kube.raw({ method: 'GET', path, repeat: 'always', ...options });
    // Discovery has one shape.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return JSON.parse(text) as Result;
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return undefined;
    throw error;
  }
}
