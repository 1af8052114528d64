// Reads the state of a peer: each of its objects by its name, since a label may be taken off a
// claim that is still there. At rest the pod alone is read every time. Writes nothing.
import { claimName, podName } from '../../shared/api/etcd-names.ts';
import { CLUSTER_ID_ANNOTATION } from '../../shared/api/etcd-peer.ts';
import { isRecord, textOf } from '../../shared/kube/json.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { claimOf, findGrowth } from '../../shared/stateful/claims.ts';
import type { Observation } from '../../shared/stateful/keeping.ts';
import { rememberedParts, wasReady } from '../../shared/stateful/memory.ts';
import { CLAIMS, isAsRendered, isOurs, PODS, STATEFUL_SETS } from '../../shared/stateful/parts.ts';
import { findPending, type PendingOf } from '../../shared/stateful/pending.ts';
import { podOf, TEMPLATE_ANNOTATION } from '../../shared/stateful/pods.ts';
import type { Deps } from './deps.ts';
import { hasClaim, type Peer, selectorOf } from './peer.ts';
import { render, type Rendered } from './render/stateful-set.ts';
import type { FoundSet, Parts, PeerClaim, PeerPod, State } from './state.ts';

export async function observe(
  deps: Deps,
  peer: Peer,
  signal: AbortSignal,
): Promise<Observation<State>> {
  const { kube, clock } = deps;
  const {
    statefulSet,
    claim,
    rendered,
    pod: foundPod,
    isRemembered,
  } = await read(deps, peer, signal);
  const nowMs = clock.nowMs();
  const pod = foundPod === null ? undefined : peerPodOf(foundPod, peer, nowMs);
  const claims = claim === undefined ? [] : [claim];
  const found = { kube, nowMs, signal, memory: deps.memoryOf(peer.uid) };
  const pods = pod === undefined ? [] : [pod];
  const pending = await findPending(found, pendingOf(peer), pods, claims);
  const state = {
    peer,
    nowMs,
    rendered,
    statefulSet,
    pod,
    claim,
    growth: await findGrowth(found, claims, peer.spec.storage.size),
    pending: pending.get(podName(peer.name)),
  };
  return { state, isRemembered };
}

interface Read extends Parts {
  readonly pod: KubeObject | null;
  readonly rendered: Rendered;
  readonly isRemembered: boolean;
}

async function read(deps: Deps, peer: Peer, signal: AbortSignal): Promise<Read> {
  const seen = await readPodAlone(deps, peer, signal);
  if (seen !== undefined) return seen;
  const { kube } = deps;
  const { namespace, name } = peer;
  const claimAt = { namespace, name: claimName(name) };
  const foundClaim = hasClaim(peer) ? await kube.get(CLAIMS, claimAt, { signal }) : null;
  const claim = foundClaim === null ? undefined : peerClaimOf(foundClaim, peer);
  // The StatefulSet first: without one, a pod that is not there does not come any more.
  const foundSet = await kube.get(STATEFUL_SETS, { namespace, name }, { signal });
  const pod = await readPod(deps, peer, signal);
  const rendered = renderedFor(peer, claim);
  const statefulSet = foundSet === null ? undefined : foundSetOf(foundSet, peer, rendered);
  const peerVersion = peer.object.metadata.resourceVersion;
  const podVersion = pod?.metadata.resourceVersion;
  const { templateHash } = rendered;
  deps.remember(peer, { statefulSet, claim, templateHash, peerVersion, podVersion });
  return { statefulSet, claim, rendered, pod, isRemembered: false };
}

/**
 * A pod goes before its claim does, and every change of its StatefulSet is an event: at rest the
 * pod tells whether anything moved. Undefined when something did, or may have.
 */
async function readPodAlone(
  deps: Deps,
  peer: Peer,
  signal: AbortSignal,
): Promise<Read | undefined> {
  const memory = deps.memoryOf(peer.uid);
  const seen = wasReady(peer) ? rememberedParts(memory, peer, deps.clock.nowMs()) : undefined;
  if (seen?.peerVersion !== peer.object.metadata.resourceVersion) return undefined;
  const pod = await readPod(deps, peer, signal);
  if (pod === null || pod.metadata.resourceVersion !== seen.podVersion) return undefined;
  const { statefulSet, claim, templateHash } = seen;
  const rendered = {
    templateHash,
    // Needed by steps alone, and before each of them everything is read anew.
    get manifest() {
      return renderedFor(peer, claim).manifest;
    },
  };
  return { statefulSet, claim, rendered, pod, isRemembered: true };
}

const readPod = (
  { kube }: Pick<Deps, 'kube'>,
  { namespace, name }: Peer,
  signal: AbortSignal,
): Promise<KubeObject | null> => kube.get(PODS, { namespace, name: podName(name) }, { signal });

const renderedFor = (peer: Peer, claim: PeerClaim | undefined): Rendered =>
  render(peer, { isBorn: claim?.clusterId !== undefined });

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
