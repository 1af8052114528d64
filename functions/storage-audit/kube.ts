// The audit without etcd, from reads of the API server alone: the versions of a CRD, its
// storedVersions, and the number of objects. The API server does not tell how objects are stored,
// not even in a dry run (docs/storage-audit.md). So a kind is clean only without objects, or with a
// StorageMigration whose proof still counts.
import { STORAGE_MIGRATIONS } from '../../shared/api/storage-migration.ts';
import { type KubeClient, openKube } from '../../shared/kube/client.ts';
import { CRDS } from '../../shared/kube/crds.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject, ResourceRef } from '../../shared/kube/objects.ts';
import { ApiServers, type OpenServer, SERVERNAME } from '../../shared/kube/servers.ts';
import type { Outcome } from '../../shared/stored/verdict.ts';
import { type Definition, definitionOf } from '../../shared/stored/crd.ts';
import { apiVersionOf, resourceName } from '../../shared/stored/place.ts';
import type { GroupResource } from '../../shared/stored/built-in.ts';
import {
  type Certificate,
  judge,
  type Judged,
  type Present,
  removableVersions,
  specOf,
} from './certificate.ts';
import type { AuditOptions } from './audit.ts';

interface KubeResource extends GroupResource {
  readonly outcome: Outcome;
  readonly versions: readonly KubeVersion[];
  /** status.storedVersions of the CRD, each with its group. */
  readonly storedVersions: readonly string[];
  readonly objects: number;
  readonly certificate?: Certificate;
  /** A sentence for each version that may go. */
  readonly verdicts: readonly string[];
}

interface KubeVersion {
  /** With its group. */
  readonly apiVersion: string;
  readonly served: boolean;
  readonly storage: boolean;
}

export interface KubeAnswer {
  readonly outcome: Outcome;
  readonly findings: readonly string[];
  readonly resources: readonly KubeResource[];
}

const NEXT =
  'read etcd or a snapshot of it, or have a new StorageMigration prove it by writing every object';

interface Deps {
  readonly kube: KubeClient;
  readonly openServer: OpenServer;
  readonly signal: AbortSignal | undefined;
}

export async function auditKube(
  kubeconfigPath: string | undefined,
  { resources = [], signal }: AuditOptions,
): Promise<KubeAnswer> {
  const options = {
    kubeconfigPath,
    userAgent: 'ballast-storage-audit',
    fieldManager: 'ballast-storage-audit',
  };
  const kube = openKube(options);
  const openServer: OpenServer = (url) =>
    openKube({ ...options, server: { url, servername: SERVERNAME } });
  try {
    const deps = { kube, openServer, signal };
    const audits = await Promise.all(resources.map((each) => auditResource(deps, each)));
    const findings = audits.flatMap(({ finding }) => finding ?? []);
    const found = audits.flatMap(({ resource }) => resource ?? []);
    return { outcome: findings.length === 0 ? 'clean' : 'unknown', findings, resources: found };
  } finally {
    await kube.close();
  }
}

interface ResourceAudit {
  readonly resource?: KubeResource;
  readonly finding?: string;
}

async function auditResource(deps: Deps, named: GroupResource): Promise<ResourceAudit> {
  const { kube, signal } = deps;
  const name = resourceName(named);
  // Before the definition: what is proved of a definition that comes later is not known here.
  const migrations = await migrationsOf(deps, named);
  const crd = await kube.get(CRDS, { name }, { signal });
  if (crd === null) {
    const why = 'it has no CustomResourceDefinition, and no built-in kind says how it is stored';
    return { finding: `${name}: ${why}; ${NEXT}.` };
  }
  const definition = definitionOf(crd);
  const ref = servedRef(definition);
  if (ref === undefined) {
    const why = 'none of its versions is served, so that the API server does not list its objects';
    return { finding: `${name}: ${why}; ${NEXT}.` };
  }
  const { objects, resourceVersion } = await countObjects(deps, ref);
  const resource = resourceIn(definition, objects);
  const { versions, storedVersions } = definition;
  const old = new Set([...versions.map((each) => each.name), ...storedVersions]);
  const storageVersion = versions.find(({ storage }) => storage)?.name ?? '';
  old.delete(storageVersion);
  const { uid, generation = 0 } = crd.metadata;
  // As it was made, it had no other version either; any edit since may have taken one away.
  if (objects === 0 || (old.size === 0 && generation === 1)) {
    return { resource: { ...resource, outcome: 'clean' } };
  }
  const kind = kindOf(crd);
  const present = { ...definition, uid, generation, kind, storageVersion, resourceVersion };
  const judged = await certified(deps, migrations, present, ref);
  if ('certificate' in judged) {
    const { certificate } = judged;
    const verdicts = removableVersions(certificate, present);
    return { resource: { ...resource, outcome: 'clean', certificate, verdicts } };
  }
  const others = old.size === 0 ? 'a version that the CRD had before' : [...old].join(' or ');
  const finding =
    `${name}: whether any of its ${objects} objects is stored in ${others} ` +
    `the API server does not tell, and ${judged.why}; ${NEXT}.`;
  return { resource, finding };
}

function resourceIn(definition: Definition, objects: number): KubeResource {
  const { group, resource, versions, storedVersions } = definition;
  const whole = (name: string): string => apiVersionOf(group, name);
  return {
    group,
    resource,
    outcome: 'unknown',
    versions: versions.map(({ name, ...rest }) => ({ apiVersion: whole(name), ...rest })),
    storedVersions: storedVersions.map(whole),
    objects,
    verdicts: [],
  };
}

function kindOf(crd: KubeObject): string {
  // The API server holds CRDs to their schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (crd['spec'] as { readonly names: { readonly kind: string } }).names.kind;
}

/** Each as etcd has it now: a list may come from the API server's memory. */
async function migrationsOf(
  { kube, signal }: Deps,
  { group, resource }: GroupResource,
): Promise<readonly KubeObject[] | string> {
  try {
    const { items } = await kube.list(STORAGE_MIGRATIONS, { signal });
    const own = items.filter((item) => {
      const { resource: of } = specOf(item);
      return of.group === group && of.resource === resource;
    });
    const read = own.map(({ metadata: { name } }) =>
      kube.get(STORAGE_MIGRATIONS, { name }, { signal }),
    );
    return (await Promise.all(read)).filter((one) => one !== null);
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return [];
    if (isKubeError(error, 'KUBE_FORBIDDEN')) return error.message;
    throw error;
  }
}

async function certified(
  deps: Deps,
  migrations: readonly KubeObject[] | string,
  present: Present,
  ref: ResourceRef,
): Promise<Judged> {
  if (typeof migrations === 'string') {
    return { why: `whether a StorageMigration proved it cannot be read: ${migrations}` };
  }
  if (migrations.length === 0) return { why: 'no StorageMigration is of this kind' };
  const judged = migrations.map((migration) => judge(migration, present));
  const holds = judged.find((one) => 'certificate' in one);
  if (holds === undefined) {
    const whys = judged.flatMap((one) => ('why' in one ? one.why : []));
    return { why: whys.join('; ') };
  }
  const lacking = await lackingServer(deps, present, ref);
  if (lacking === undefined) return holds;
  const { migration } = holds.certificate;
  return { why: `the proof of StorageMigration ${migration} does not count, because ${lacking}` };
}

/** One that has not heard of the version yet writes the old one, after the proof too. */
async function lackingServer(
  { kube, openServer, signal }: Deps,
  { kind, storageVersion }: Present,
  ref: ResourceRef,
): Promise<string | undefined> {
  try {
    const servers = await ApiServers.find({ kube, openServer, signal });
    try {
      const lacking = await servers.lacking({ ref, kind, version: storageVersion }, signal);
      return lacking?.replace(/^The/, 'the').replace(/[.]$/, '');
    } finally {
      await servers.close();
    }
  } catch (error) {
    if (!isKubeError(error, 'KUBE_FORBIDDEN')) throw error;
    return `the API servers cannot be found: ${error.message}`;
  }
}

/** By the stored version where that is served; undefined when none is. */
function servedRef({ group, resource, versions }: Definition): ResourceRef | undefined {
  const served = versions.filter((version) => version.served);
  const version = served.find(({ storage }) => storage) ?? served[0];
  return version === undefined ? undefined : { group, resource, version: version.name };
}

async function countObjects({ kube, signal }: Deps, ref: ResourceRef) {
  const { items, metadata } = await kube.list(ref, { limit: 1, metadataOnly: true, signal });
  const { remainingItemCount = 0, resourceVersion } = metadata;
  return { objects: items.length + remainingItemCount, resourceVersion };
}
