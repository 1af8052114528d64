// Finds what belongs to the new EtcdCluster: itself, its pods, and the claims of its members.
import {
  ETCD_CLUSTER_LABEL,
  type EtcdClusterSpec,
  type EtcdClusterStatus,
} from '../../shared/api/etcd-cluster.ts';
import { claimName, ORDINALS, peerNameOf } from '../../shared/api/etcd-names.ts';
import { CLUSTER_ID_ANNOTATION } from '../../shared/api/etcd-peer.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { textOf } from '../../shared/kube/json.ts';
import { isEnding, type KubeObject } from '../../shared/kube/objects.ts';
import { ownObjectOf } from '../../shared/kube/own-object.ts';
import { CLAIMS, PODS } from '../../shared/stateful/parts.ts';
import { labelled } from './labelled.ts';
import { fieldOf } from './legacy.ts';
import type { Takeover } from './object.ts';
import type { FoundCluster, FoundMade, FoundMemberClaim, FoundPod } from './state.ts';

interface Looking {
  readonly kube: KubeClient;
  readonly signal: AbortSignal;
}

export function madeOf(object: KubeObject, isOurs: boolean): FoundMade {
  const { name, uid, resourceVersion, creationTimestamp: createdAt = '' } = object.metadata;
  return { name, uid, resourceVersion, createdAt, isOurs, isEnding: isEnding(object) };
}

/** `clusterId`: whose data it is to have. */
export function foundCluster(
  object: KubeObject,
  isOurs: boolean,
  clusterId: string | undefined,
): FoundCluster {
  const { status } = ownObjectOf<EtcdClusterSpec, EtcdClusterStatus>(object);
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  const isReady = ready?.status === 'True' && status.clusterId === clusterId;
  return {
    ...madeOf(object, isOurs),
    isReady,
    says: ready?.message ?? 'Nobody has looked at it yet.',
    clusterId: status.clusterId,
  };
}

const ofNew = ({ namespace, spec }: Takeover) => ({
  namespace,
  labelSelector: `${ETCD_CLUSTER_LABEL}=${spec.into.name}`,
});

/**
 * Those of the names that its members have, which were free. They are looked for before the
 * EtcdCluster is: one of somebody else that has made a claim by now is seen then.
 */
export async function memberClaims(
  { kube, signal }: Looking,
  takeover: Takeover,
  clusterId: string | undefined,
): Promise<readonly FoundMemberClaim[]> {
  const { name } = takeover.spec.into;
  const free = Array.from({ length: ORDINALS }, (_, at) => claimName(peerNameOf(name, at)));
  const found: FoundMemberClaim[] = [];
  for await (const object of labelled(kube, CLAIMS, ofNew(takeover), signal)) {
    if (!free.includes(object.metadata.name)) continue;
    const id = object.metadata.annotations?.[CLUSTER_ID_ANNOTATION];
    const isOurs = id !== undefined && id === clusterId;
    found.push({ ...madeOf(object, isOurs), isMarked: id !== undefined });
  }
  return found;
}

export async function newPods(
  { kube, signal }: Looking,
  takeover: Takeover,
): Promise<readonly Pick<FoundPod, 'name' | 'ip'>[]> {
  const found: Pick<FoundPod, 'name' | 'ip'>[] = [];
  for await (const object of labelled(kube, PODS, ofNew(takeover), signal)) {
    found.push({ name: object.metadata.name, ip: runningIpOf(object) });
  }
  return found;
}

function runningIpOf(pod: KubeObject): string | undefined {
  const { phase, podIP } = fieldOf({ ...pod }, 'status');
  const ip = textOf(podIP);
  return phase === 'Running' && ip !== '' ? ip : undefined;
}
