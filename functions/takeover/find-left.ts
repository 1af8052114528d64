// Finds what the operator made for a legacy object: by their names and labels, and theirs alone
// that the object owns. Others may have made objects with the same labels.
import type { KubeClient } from '../../shared/kube/client.ts';
import { isRecord, textOf } from '../../shared/kube/json.ts';
import { isEnding, type KubeObject } from '../../shared/kube/objects.ts';
import { CLAIMS, PODS, SERVICES, STATEFUL_SETS } from '../../shared/stateful/parts.ts';
import { findPeers } from './find-peers.ts';
import { belongsTo, labelled, OBJECTS_PER_PAGE } from './labelled.ts';
import { fieldOf, type LegacyEtcd } from './legacy.ts';
import { type Fields, recordsIn } from './legacy/said.ts';
import { selectorIn } from './records.ts';
import type { FoundClaim, FoundPod, FoundService, FoundStatefulSet, State } from './state.ts';

/** All of them stand in the status. */
export const OBJECTS_MAX = 40;

type Services = Pick<State, 'client' | 'headless'>;
type Left = Services &
  Pick<State, 'pods' | 'strangers' | 'claims' | 'isCut' | 'statefulSet' | 'peers'>;

/** `known`: names of claims that were seen when the plan was confirmed. */
export async function findLeft(
  kube: KubeClient,
  legacy: LegacyEtcd,
  known: readonly string[],
  signal: AbortSignal,
): Promise<Left> {
  const isOwned = (object: KubeObject): boolean => belongsTo(object, legacy.uid);
  const { namespace } = legacy;
  const statefulSet = await statefulSetOf(kube, legacy, signal);
  const { peers, holders } = await findPeers(kube, legacy, signal);
  const holder = legacy.statefulSet === undefined ? legacy.uid : statefulSet?.uid;
  const hasPods = legacy.peers === undefined ? new Set([holder]) : holders;
  const pods: FoundPod[] = [];
  const strangers: string[] = [];
  const where = { namespace, labelSelector: legacy.selector };
  for await (const object of labelled(kube, PODS, where, signal)) {
    if (belongsToOne(object, hasPods)) pods.push(podOf(object));
    else strangers.push(object.metadata.name);
  }
  const claimed = pods.slice(0, OBJECTS_MAX).flatMap(({ claim }) => claim ?? []);
  const names = new Set([...claimed, ...known]);
  const going = new Set([legacy.uid, ...hasPods, ...[...peers, ...pods].map(({ uid }) => uid)]);
  const claims = await claimsOf(kube, legacy, { names, going }, signal);
  const service = async (name: string): Promise<FoundService | undefined> => {
    const object = await kube.get(SERVICES, { namespace, name }, { signal });
    return object === null ? undefined : serviceOf(object, isOwned(object));
  };
  return {
    pods: byName(pods).slice(0, OBJECTS_MAX),
    strangers: strangers.toSorted().slice(0, OBJECTS_MAX),
    claims: byName(claims).slice(0, OBJECTS_MAX),
    isCut: [pods, strangers, claims, peers].some(({ length }) => length > OBJECTS_MAX),
    client: await service(legacy.clientService),
    headless: await service(legacy.headlessService),
    statefulSet,
    peers: byName(peers).slice(0, OBJECTS_MAX),
  };
}

interface Known {
  readonly names: ReadonlySet<string>;
  /** Uids of all that goes with the legacy object, and of that. */
  readonly going: ReadonlySet<string | undefined>;
}

/**
 * By their names and owners as well: one that has lost its label, or never had it, would go with
 * its owner, unseen.
 */
async function claimsOf(
  kube: KubeClient,
  { namespace, uid, selector }: LegacyEtcd,
  { names, going }: Known,
  signal: AbortSignal,
): Promise<readonly FoundClaim[]> {
  const claims: FoundClaim[] = [];
  const labels = Object.entries(selectorIn(selector));
  for await (const { items } of kube.pages(CLAIMS, {
    namespace,
    limit: OBJECTS_PER_PAGE,
    signal,
  })) {
    for (const object of items) {
      const { name, labels: own = {} } = object.metadata;
      const isLabelled = labels.every(([label, value]) => own[label] === value);
      if (!isLabelled && !names.has(name) && !belongsToOne(object, going)) continue;
      const isOwned = belongsTo(object, uid);
      claims.push({ ...identityOf(object), isOwned, isEnding: isEnding(object) });
    }
  }
  return claims;
}

const belongsToOne = ({ metadata }: KubeObject, of: ReadonlySet<string | undefined>): boolean =>
  metadata.ownerReferences?.some(({ uid }) => of.has(uid)) === true;

/** One of that name that belongs to somebody else has other pods. */
async function statefulSetOf(
  kube: KubeClient,
  { namespace, statefulSet: name, uid }: LegacyEtcd,
  signal: AbortSignal,
): Promise<FoundStatefulSet | undefined> {
  if (name === undefined) return undefined;
  const object = await kube.get(STATEFUL_SETS, { namespace, name }, { signal });
  if (object === null || !belongsTo(object, uid)) return undefined;
  const spec = fieldOf({ ...object }, 'spec');
  const { whenDeleted } = fieldOf(spec, 'persistentVolumeClaimRetentionPolicy');
  const { type } = fieldOf(spec, 'updateStrategy');
  const { currentRevision, updateRevision } = fieldOf({ ...object }, 'status');
  return {
    name,
    uid: object.metadata.uid,
    keepsClaims: whenDeleted !== 'Delete',
    isRolling: type !== 'OnDelete' && currentRevision !== updateRevision,
  };
}

export const byName = <Named extends { readonly name: string }>(
  all: readonly Named[],
): readonly Named[] => all.toSorted((one, other) => (one.name < other.name ? -1 : 1));

function identityOf({ metadata }: KubeObject) {
  const { name, uid, resourceVersion, ownerReferences: owners = [] } = metadata;
  return { name, uid, resourceVersion, owners };
}

function podOf(object: KubeObject): FoundPod {
  const { name, uid, deletionTimestamp } = object.metadata;
  const { podIP, phase, containerStatuses } = fieldOf({ ...object }, 'status');
  const { volumes, containers, hostname } = fieldOf({ ...object }, 'spec');
  const ip = textOf(podIP);
  return {
    name,
    member: textOf(hostname) || name,
    uid,
    ip: ip === '' ? undefined : ip,
    isRunning: phase === 'Running' && deletionTimestamp === undefined,
    claim: claimIn(volumes),
    endsUnhealthy: recordsIn(containers).some((one) => endsUnhealthy(one)),
    isStarting: isStarting(recordsIn(containers), recordsIn(containerStatuses)),
  };
}

/** A probe of `/health` or `/readyz`, or by `endpoint health`; those of operators ask otherwise. */
const endsUnhealthy = (container: Fields): boolean =>
  /health|readyz/.test(JSON.stringify(fieldOf(container, 'livenessProbe')));

/** The kubelet asks a startup probe until it says yes once. */
function isStarting(containers: readonly Fields[], statuses: readonly Fields[]): boolean {
  const started = new Set(statuses.flatMap(({ name, started: is }) => (is === true ? name : [])));
  return containers.some(({ name, startupProbe }) => isRecord(startupProbe) && !started.has(name));
}

/** The one claim of a member has its data. */
function claimIn(volumes: unknown): string | undefined {
  const claims = recordsIn(volumes).map((one) => fieldOf(one, 'persistentVolumeClaim'));
  return claims.map(({ claimName }) => textOf(claimName)).find((name) => name !== '');
}

export function serviceOf(object: KubeObject, isOwned: boolean): FoundService {
  const selector = fieldOf(fieldOf({ ...object }, 'spec'), 'selector');
  const labels = Object.entries(selector).map(([key, value]) => [key, textOf(value)]);
  return { ...identityOf(object), selector: Object.fromEntries(labels), isOwned };
}
