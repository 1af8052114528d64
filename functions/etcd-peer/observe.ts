// Reads the state of a peer: each of its objects by its name, since a label may be taken off a
// claim that is still there. Writes nothing.
import { claimName, podName } from '../../shared/api/etcd-names.ts';
import { CLUSTER_ID_ANNOTATION } from '../../shared/api/etcd-peer.ts';
import { isRecord, textOf } from '../../shared/kube/json.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { claimOf, findGrowth } from '../../shared/stateful/claims.ts';
import { CLAIMS, isAsRendered, isOurs, PODS, STATEFUL_SETS } from '../../shared/stateful/parts.ts';
import { findPending, type PendingOf } from '../../shared/stateful/pending.ts';
import { podOf, TEMPLATE_ANNOTATION } from '../../shared/stateful/pods.ts';
import type { Deps } from './deps.ts';
import { hasClaim, type Peer, selectorOf } from './peer.ts';
import { render, type Rendered } from './render/stateful-set.ts';
import type { FoundSet, PeerClaim, PeerPod, State } from './state.ts';

type ObserveDeps = Pick<Deps, 'kube' | 'clock' | 'memoryOf'>;

export async function observe(
  observeDeps: ObserveDeps,
  peer: Peer,
  signal: AbortSignal,
): Promise<State> {
  const { kube, clock } = observeDeps;
  const { namespace, name, spec } = peer;
  const claimAt = { namespace, name: claimName(name) };
  const foundClaim = hasClaim(peer) ? await kube.get(CLAIMS, claimAt, { signal }) : null;
  const claim = foundClaim === null ? undefined : peerClaimOf(foundClaim, peer);
  const rendered = render(peer, { isBorn: claim?.clusterId !== undefined });
  // The StatefulSet first: without one, a pod that is not there does not come any more.
  const foundSet = await kube.get(STATEFUL_SETS, { namespace, name }, { signal });
  const foundPod = await kube.get(PODS, { namespace, name: podName(name) }, { signal });
  const nowMs = clock.nowMs();
  const pod = foundPod === null ? undefined : peerPodOf(foundPod, peer, nowMs);
  const claims = claim === undefined ? [] : [claim];
  const deps = { kube, nowMs, signal, memory: observeDeps.memoryOf(peer.uid) };
  const pods = pod === undefined ? [] : [pod];
  const pending = await findPending(deps, pendingOf(peer), pods, claims);
  return {
    peer,
    nowMs,
    rendered,
    statefulSet: foundSet === null ? undefined : foundSetOf(foundSet, peer, rendered),
    pod,
    claim,
    growth: await findGrowth(deps, claims, spec.storage.size),
    pending: pending.get(podName(name)),
  };
}

const pendingOf = ({ namespace, name }: Peer): PendingOf => ({
  kind: 'EtcdCluster',
  namespace,
  accessModeField: 'storage.accessMode',
  claimName: () => claimName(name),
});

/** Claims have no owner, so that of a former peer of this name is ours by its labels. */
function peerClaimOf(object: KubeObject, peer: Peer): PeerClaim {
  const { labels = {}, annotations = {}, resourceVersion } = object.metadata;
  return {
    ...claimOf(object),
    resourceVersion,
    isOurs: Object.entries(selectorOf(peer)).every(([key, value]) => labels[key] === value),
    clusterId: annotations[CLUSTER_ID_ANNOTATION],
  };
}

/** Its StatefulSet may be gone already, so it is told by the name of that. */
const peerPodOf = (object: KubeObject, { name }: Peer, nowMs: number): PeerPod => ({
  ...podOf(object, nowMs),
  isOurs: (object.metadata.ownerReferences ?? []).some(
    (owner) => owner.kind === 'StatefulSet' && owner.name === name,
  ),
});

function foundSetOf(object: KubeObject, peer: Peer, { manifest }: Rendered): FoundSet {
  const { metadata, spec } = object;
  const { replicas, template } = isRecord(spec) ? spec : {};
  const { metadata: ofPods } = isRecord(template) ? template : {};
  const { annotations } = isRecord(ofPods) ? ofPods : {};
  const hash = textOf(isRecord(annotations) ? annotations[TEMPLATE_ANNOTATION] : undefined);
  return {
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    replicas: typeof replicas === 'number' ? replicas : 1,
    templateHash: hash === '' ? undefined : hash,
    isOurs: isOurs(object, peer),
    isAsRendered: isAsRendered({ manifest }, object),
    isEnding: metadata.deletionTimestamp !== undefined,
  };
}
