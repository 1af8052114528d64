// What the API server alone can tell without a write: which versions a CRD has, what its status
// says was stored once, and how many objects there are. How they are stored it does not tell, not
// even in a dry run (docs/storage-audit.md), so that only a kind without objects is sure to be
// clean.
import { type KubeClient, openKube } from '../../shared/kube/client.ts';
import { CRDS } from '../../shared/kube/crds.ts';
import { type Definition, definitionOf } from '../../shared/stored/crd.ts';
import type { Outcome } from '../../shared/stored/audit.ts';
import { type GroupResource, resourceName } from '../../shared/stored/place.ts';
import type { LookOptions } from './look.ts';

interface KubeResource extends Definition {
  readonly objects: number;
}

export interface KubeAnswer {
  readonly outcome: Outcome;
  readonly findings: readonly string[];
  readonly resources: readonly KubeResource[];
}

const NEXT =
  'read etcd or a snapshot of it, or have a StorageMigration prove it by writing every object';

export async function lookAtKube(
  kubeconfigPath: string | undefined,
  { resources: asked = [], signal }: LookOptions,
): Promise<KubeAnswer> {
  const kube = openKube({
    userAgent: 'ballast-storage-audit',
    fieldManager: 'ballast-storage-audit',
    ...(kubeconfigPath === undefined ? {} : { kubeconfigPath }),
  });
  try {
    const looks = await Promise.all(asked.map((each) => lookAtResource(kube, each, signal)));
    const findings = looks.flatMap(({ finding }) => finding ?? []);
    const resources = looks.flatMap(({ resource }) => resource ?? []);
    return { outcome: findings.length === 0 ? 'clean' : 'unknown', findings, resources };
  } finally {
    await kube.close();
  }
}

interface Look {
  readonly resource?: KubeResource;
  readonly finding?: string;
}

async function lookAtResource(
  kube: KubeClient,
  asked: GroupResource,
  signal: AbortSignal | undefined,
): Promise<Look> {
  const name = resourceName(asked);
  const crd = await kube.get(CRDS, { name }, { signal });
  if (crd === null) {
    const why = 'it has no CustomResourceDefinition, and no built-in kind says how it is stored';
    return { finding: `${name}: ${why}; ${NEXT}.` };
  }
  const definition = definitionOf(crd);
  const objects = await countObjects(kube, definition, signal);
  if (objects === undefined) {
    const why = 'none of its versions is served, so that the API server does not list its objects';
    return { finding: `${name}: ${why}; ${NEXT}.` };
  }
  const resource = { ...definition, objects };
  const { versions, storedVersions } = definition;
  const old = new Set([...versions.map((each) => each.name), ...storedVersions]);
  for (const { name: version, storage } of versions) if (storage) old.delete(version);
  if (objects === 0 || old.size === 0) return { resource };
  const finding =
    `${name}: whether any of its ${objects} objects is stored in ${[...old].join(' or ')} ` +
    `the API server does not tell; ${NEXT}.`;
  return { resource, finding };
}

/** Undefined when no version is served. */
async function countObjects(
  kube: KubeClient,
  { group, resource, versions }: Definition,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const served = versions.filter((version) => version.served);
  const version = served.find(({ storage }) => storage) ?? served[0];
  if (version === undefined) return undefined;
  const ref = { group, resource, version: version.name };
  const { items, metadata } = await kube.list(ref, { limit: 1, metadataOnly: true, signal });
  return items.length + (metadata.remainingItemCount ?? 0);
}
