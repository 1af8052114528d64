// Observes the target of a migration in the API server: the kind, the version in which its objects
// are stored from now on, and the CRD behind a custom resource. Everything that decide.ts needs
// beside the migration itself.
import type { MigrationTarget } from '../../shared/api/storage-migration.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { CRDS } from '../../shared/kube/crds.ts';
import { isRecord } from '../../shared/kube/json.ts';
import type { KubeObject, ManagedFieldsEntry, ResourceRef } from '../../shared/kube/objects.ts';
import { resourceName } from '../../shared/kube/paths.ts';
import {
  servedResource,
  servedVersions,
  storageVersionHash,
} from '../../shared/kube/storage-version.ts';
import { type Migration, cleansFields, resourceOf } from './migration.ts';

export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema?: { readonly openAPIV3Schema?: Readonly<Record<string, unknown>> };
}

export interface Crd {
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  readonly versions: readonly CrdVersion[];
  readonly storedVersions: readonly string[];
  readonly hasWebhook: boolean;
  /** When its spec was written last, as the API server noted it. */
  readonly changedAt: string | undefined;
}

export interface Target {
  /** A version that is served, to read and write by; the stored one where it is served. */
  readonly ref: ResourceRef;
  readonly kind: string;
  /** The version in which the API server stores objects now. */
  readonly version: string;
  readonly crd: Crd | undefined;
}

/** Why there is nothing to migrate, in a sentence. */
export interface NoTarget {
  readonly reason: 'ResourceUnknown' | 'VersionUnknown';
  readonly message: string;
}

export const isTarget = (found: Target | NoTarget): found is Target => 'ref' in found;

export function crdOf(object: KubeObject): Crd {
  // The API server holds CRDs to their schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { metadata, spec, status } = object as unknown as {
    metadata: KubeObject['metadata'];
    spec: {
      versions: readonly CrdVersion[];
      conversion?: { strategy?: string };
    };
    status?: { storedVersions?: readonly string[] };
  };
  const { name, uid, generation = 0, resourceVersion } = metadata;
  return {
    name,
    uid,
    generation,
    resourceVersion,
    versions: spec.versions,
    storedVersions: status?.storedVersions ?? [],
    hasWebhook: spec.conversion?.strategy === 'Webhook',
    changedAt: changedAt(metadata.managedFields ?? []),
  };
}

function changedAt(entries: readonly ManagedFieldsEntry[]): string | undefined {
  const times = entries.flatMap(({ subresource, fieldsV1, time }) => {
    const isOfSpec = subresource === undefined && isRecord(fieldsV1) && 'f:spec' in fieldsV1;
    return isOfSpec ? String(time) : [];
  });
  return times.toSorted().at(-1);
}

export const storageVersionOf = ({ versions }: Crd): string =>
  versions.find(({ storage }) => storage)?.name ?? '';

export async function observe(
  kube: KubeClient,
  migration: Migration,
  signal: AbortSignal,
): Promise<Target | NoTarget> {
  const { group, resource } = migration.spec.resource;
  const object = await kube.get(CRDS, { name: resourceOf(migration) }, { signal });
  if (object === null) return readBuiltIn(kube, { group, resource }, signal);
  const crd = crdOf(object);
  const version = storageVersionOf(crd);
  const served = crd.versions.filter((one) => one.served);
  const use = served.find(({ storage }) => storage) ?? served[0];
  if (use === undefined) {
    const message = `CRD ${crd.name} serves no version, so its objects cannot be read: serve one.`;
    return { reason: 'ResourceUnknown', message };
  }
  const found = await servedResource(kube, { group, version: use.name, resource }, { signal });
  if (found === undefined) {
    const message = `CRD ${crd.name} is not established yet: see its conditions.`;
    return { reason: 'ResourceUnknown', message };
  }
  return { ref: { group, version: use.name, resource }, kind: found.kind, version, crd };
}

/** Which version a built-in kind is stored in only its hash tells. */
async function readBuiltIn(
  kube: KubeClient,
  { group, resource }: Omit<ResourceRef, 'version'>,
  signal: AbortSignal,
): Promise<Target | NoTarget> {
  const name = resourceName({ group, resource });
  const versions = await servedVersions(kube, group, { signal });
  for (const version of versions) {
    const found = await servedResource(kube, { group, version, resource }, { signal });
    if (found === undefined) continue;
    const stored = versions.find(
      (one) => storageVersionHash(group, one, found.kind) === found.storageVersionHash,
    );
    const ref = { group, version: stored ?? version, resource };
    if (stored !== undefined) return { ref, kind: found.kind, version: stored, crd: undefined };
    const message = `The API server does not serve the version in which it stores ${name}.`;
    return { reason: 'VersionUnknown', message };
  }
  const next = 'correct spec.resource, or install its CRD.';
  const message = `The API server has no resource ${name}: ${next}`;
  return { reason: 'ResourceUnknown', message };
}

/** The names of the versions that the API server answers in. */
export const servedBy = ({ versions }: Crd): readonly string[] =>
  versions.filter(({ served }) => served).map(({ name }) => name);

/** The target as the status records it at the beginning; a change of any field begins anew. */
export function begunWith(migration: Migration, { crd, kind, version }: Target): MigrationTarget {
  const { dryRun, mode } = migration.spec;
  const cleans = crd !== undefined && cleansFields(migration, crd);
  return {
    version,
    kind,
    dryRun,
    ...(mode === 'Ballast' ? {} : { mode }),
    ...(cleans ? { cleansManagedFields: true, servedVersions: servedBy(crd) } : {}),
    ...(crd === undefined ? {} : { crdUid: crd.uid, crdGeneration: crd.generation }),
  };
}
