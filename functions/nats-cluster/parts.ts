// Reads the parts of a cluster and compares them with how they are rendered. observe.ts calls it
// after changes and every few minutes.
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { isRecord } from '../../shared/kube/json.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { accessModeOf, modeAmong } from './claim-template.ts';
import { CLAIM, claimName, type Cluster, ordinalOf, serverName, serverNames } from './cluster.ts';
import {
  CLAIMS,
  HASH_ANNOTATION,
  type PartKey,
  render,
  type RenderedPart,
  SECRETS,
  STATEFUL_SETS,
} from './render/manifests.ts';
import { findLost } from './lost.ts';
import { isOurs, nameTaken } from './owner.ts';
import { findPending } from './pending.ts';
import { selectorText } from './render/labels.ts';
import { CONFIG_KEY, CONFIG_SUFFIX } from './render/config.ts';
import { quantityOf } from './render/quantity.ts';
import { accountsIn, type KnownPasswords, passwordsIn, saysTlsIn } from './render/read-back.ts';
import { policyRefusalOf } from './missing-rights.ts';
import { dataOf, type SecretData } from './secret-data.ts';
import { readSecrets } from './secrets.ts';
import { forgetFormer } from './system-secret.ts';
import { type Claim, type Parts, type Pod, sizeOf } from './state.ts';

export interface PartsDeps {
  readonly kube: KubeClient;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Passwords that servers were given, as this instance remembers them. */
  readonly known: KnownPasswords | undefined;
  /** Content of Secrets that have no copy elsewhere, as last read. */
  readonly kept: Map<string, SecretData>;
  /** Set while the NetworkPolicy was refused a short while ago. */
  readonly policyRefusal: Reason | undefined;
  /** A server was reached with TLS since the configuration says so. */
  readonly hasSeenTls?: boolean | undefined;
}

const STORAGE_CLASSES = {
  group: 'storage.k8s.io',
  version: 'v1',
  resource: 'storageclasses',
} as const;

export async function readParts(
  deps: PartsDeps,
  cluster: Cluster,
  pods: readonly Pod[],
): Promise<Parts> {
  const { kube, signal } = deps;
  const { name, namespace, spec } = cluster;
  const configAt = { namespace, name: `${name}${CONFIG_SUFFIX}` };
  const config = await kube.get(SECRETS, configAt, { signal });
  const lastConfig = lastConfigIn(config, cluster);
  const versions = versionsOf(config);
  const secretsDeps = { ...deps, versions, running: uidsOf(cluster, pods) };
  const secrets = await readSecrets(secretsDeps, cluster, config);
  const { lacking, credentials, system, systemPassword } = secrets;
  const { formerPasswords = [], trustedCa = '', beforeTls = [], notice } = secrets;
  const statefulSet = await kube.get(STATEFUL_SETS, { namespace, name }, { signal });
  const found = new Map<PartKey, KubeObject>();
  if (statefulSet !== null) found.set('statefulSet', statefulSet);
  if (config !== null && credentials !== undefined) found.set('config', config);
  const claims = spec.jetStream.fileStorage === undefined ? [] : await readClaims(deps, cluster);
  const size = sizeOf({ found }) ?? sizeAmong(cluster, pods, claims);
  const accessMode = accessModeOf(cluster, statefulSet ?? undefined, claims);
  const growth = await findGrowth(deps, cluster, claims);
  const attainable = keptBack(cluster, growth);
  const rendered = credentials && render(attainable, credentials, { size, accessMode });
  const all = rendered?.parts ?? [];
  const policyRefusal = (await findOthers(deps, cluster, all, found)) ?? deps.policyRefusal;
  const taken = [...found.values()].find((object) => !isOurs(object, cluster));
  const old = rendered && system && forgetFormer(cluster, system, rendered);
  return {
    toMake: secrets.toMake ?? old,
    lacking: lacking ?? (taken === undefined ? undefined : nameTaken(taken)),
    systemPassword,
    formerPasswords,
    trustedCa,
    beforeTls,
    notice,
    secrets: versions,
    ...readBack(lastConfig),
    rendered,
    found,
    wrong: wrongAmong(all, found, policyRefusal),
    policyRefusal,
    claims,
    lost: await findLost(deps, pods, claims),
    pending: await findPending(deps, cluster, pods, claims),
    growth,
  };
}

/**
 * No event tells that a Secret was deleted or edited, so every reconcile compares their versions.
 */
export async function areAsRead(
  { kube, signal }: PartsDeps,
  { namespace }: Cluster,
  { secrets }: Parts,
): Promise<boolean> {
  for (const [name, version] of secrets) {
    const now = await kube.get(SECRETS, { namespace, name }, { signal });
    if (now?.metadata.resourceVersion !== version) return false;
  }
  return true;
}

/** Reads the parts that were not needed for rendering; returns the reason when one is forbidden. */
async function findOthers(
  { kube, signal }: PartsDeps,
  cluster: Cluster,
  parts: readonly RenderedPart[],
  found: Map<PartKey, KubeObject>,
): Promise<Reason | undefined> {
  let policyRefusal: Reason | undefined;
  const read: readonly PartKey[] = ['statefulSet', 'config'];
  for (const { key, ref, manifest } of parts.filter((one) => !read.includes(one.key))) {
    const { name, namespace = '' } = manifest.metadata;
    const object = await kube.get(ref, { namespace, name }, { signal }).catch((error: unknown) => {
      if (key !== 'networkPolicy') throw error;
      policyRefusal = policyRefusalOf(cluster, error);
      if (policyRefusal === undefined) throw error;
      return null;
    });
    if (object !== null) found.set(key, object);
  }
  return policyRefusal;
}

const versionsOf = (config: KubeObject | null): Map<string, string> =>
  new Map(config === null ? [] : [[config.metadata.name, config.metadata.resourceVersion]]);

const readBack = (config: string): Pick<Parts, 'known' | 'accounts' | 'saysTls'> => ({
  known: passwordsIn(config),
  accounts: accountsIn(config),
  saysTls: saysTlsIn(config),
});

/**
 * Anybody who may create pods may label them as servers, but no second pod can have a server's
 * name.
 */
const uidsOf = (cluster: Cluster, pods: readonly Pod[]): readonly string[] =>
  pods.flatMap(({ name, uid }) => (name === serverName(cluster, ordinalOf(name)) ? uid : []));

/**
 * The configuration that servers were given last; empty when the Secret belongs to somebody else.
 */
const lastConfigIn = (config: KubeObject | null, cluster: Cluster): string =>
  config !== null && isOurs(config, cluster) ? (dataOf(config)[CONFIG_KEY] ?? '') : '';

/**
 * Without a StatefulSet, the pods and claims tell the size, so that no server ends with it or is
 * left out: surplus ones are emptied and removed one by one. A single server is no cluster, and
 * shares nothing with others.
 */
function sizeAmong(cluster: Cluster, pods: readonly Pod[], claims: readonly Claim[]): number {
  const there = new Set([...pods, ...claims].flatMap((one) => (one.isEnding ? [] : one.name)));
  const isThere = (server: string): boolean => there.has(server) || there.has(claimName(server));
  let size = cluster.spec.replicas;
  while (size > 1 && isThere(serverName(cluster, size))) size += 1;
  return size;
}

/** Parts that differ from how they are rendered, except a NetworkPolicy that was refused. */
const wrongAmong = (
  all: readonly RenderedPart[],
  found: ReadonlyMap<PartKey, KubeObject>,
  policyRefusal: Reason | undefined,
): readonly RenderedPart[] =>
  all.filter(
    (part) =>
      !isAsRendered(part, found.get(part.key)) &&
      !(part.key === 'networkPolicy' && policyRefusal !== undefined),
  );

function isAsRendered({ manifest }: RenderedPart, found: KubeObject | undefined): boolean {
  if (found === undefined) return false;
  const wanted = manifest.metadata['annotations'];
  const hash = isRecord(wanted) ? wanted[HASH_ANNOTATION] : undefined;
  if (found.metadata.annotations?.[HASH_ANNOTATION] !== hash) return false;
  const { metadata: _, ...body } = manifest;
  return holds(found, body);
}

/** True when every wanted field has its value; fields that others added do not count. */
function holds(found: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(found) || found.length !== wanted.length) return false;
    return wanted.every((item, index) => holds(found[index], item));
  }
  if (isRecord(wanted)) {
    if (!isRecord(found)) return false;
    return Object.entries(wanted).every(([name, value]) => holds(found[name], value));
  }
  return found === wanted || isSameAmount(found, wanted);
}

/** The API server writes 1024Mi as 1Gi. */
function isSameAmount(found: unknown, wanted: unknown): boolean {
  if (typeof found !== 'string' || typeof wanted !== 'string') return false;
  const amount = quantityOf(wanted);
  return Number.isFinite(amount) && quantityOf(found) === amount;
}

async function readClaims(
  { kube, signal }: PartsDeps,
  cluster: Cluster,
): Promise<readonly Claim[]> {
  const labelSelector = selectorText(cluster);
  const { namespace } = cluster;
  const claims: Claim[] = [];
  const options = { namespace, labelSelector, limit: CLAIMS_PER_PAGE, signal };
  for await (const { items } of kube.pages(CLAIMS, options)) {
    const own = items.filter(({ metadata }) => metadata.name.startsWith(`${CLAIM}-`));
    claims.push(...own.map(claimOf));
  }
  return claims;
}

const CLAIMS_PER_PAGE = 500;
const SELECTED_NODE = 'volume.kubernetes.io/selected-node';

function claimOf(object: KubeObject): Claim {
  // The API server holds claims to their schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { spec, status } = object as unknown as {
    readonly spec: {
      readonly storageClassName?: string;
      readonly volumeName?: string;
      readonly accessModes?: readonly string[];
      readonly resources: { readonly requests: { readonly storage: string } };
    };
    readonly status?: { readonly phase?: string };
  };
  const { name, uid, annotations, creationTimestamp, deletionTimestamp } = object.metadata;
  return {
    name,
    uid,
    phase: status?.phase ?? '',
    size: spec.resources.requests.storage,
    storageClassName: spec.storageClassName,
    accessMode: modeAmong(spec.accessModes),
    createdAt: creationTimestamp,
    node: annotations?.[SELECTED_NODE],
    volume: spec.volumeName,
    isEnding: deletionTimestamp !== undefined,
  };
}

/**
 * The cluster with the size that its claims keep: other edits are still possible then, and
 * certificates still have to be renewed.
 */
function keptBack(cluster: Cluster, growth: Parts['growth']): Cluster {
  const { spec } = cluster;
  const { fileStorage } = spec.jetStream;
  if (growth === undefined || growth.isAllowed || fileStorage === undefined) return cluster;
  const { size } = growth.claim;
  const jetStream = { ...spec.jetStream, fileStorage: { ...fileStorage, size } };
  return { ...cluster, spec: { ...spec, jetStream } };
}

/** The smallest claim that is smaller than the spec says. */
async function findGrowth(
  { kube, signal }: PartsDeps,
  cluster: Cluster,
  claims: readonly Claim[],
): Promise<Parts['growth']> {
  const { jetStream, replicas } = cluster.spec;
  const size = jetStream.fileStorage?.size;
  if (size === undefined) return undefined;
  const names = serverNames(cluster, replicas).map(claimName);
  const [claim] = claims
    .filter((one) => names.includes(one.name) && quantityOf(one.size) < quantityOf(size))
    .toSorted((a, b) => quantityOf(a.size) - quantityOf(b.size));
  if (claim === undefined) return undefined;
  const { storageClassName: name } = claim;
  const found = name === undefined ? null : await kube.get(STORAGE_CLASSES, { name }, { signal });
  return { claim, size, isAllowed: found?.['allowVolumeExpansion'] === true };
}
