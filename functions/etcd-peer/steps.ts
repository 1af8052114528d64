// Applies one step. Each changes one thing, on condition that it is still as it was observed, and
// returns the Event to create. No step deletes a claim or a pod.
import { claimName } from '../../shared/api/etcd-names.ts';
import { ETCD_PEER_FINALIZER, ETCD_PEERS } from '../../shared/api/etcd-peer.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { CLAIMS, STATEFUL_SETS } from '../../shared/stateful/parts.ts';
import { applied, applyStatefulStep, type StepResult } from '../../shared/stateful/steps.ts';
import type { Step } from './decision.ts';
import type { Deps } from './deps.ts';
import type { Peer } from './peer.ts';
import { claimManifest } from './render/claim.ts';
import type { State } from './state.ts';

export async function applyStep(
  { kube }: Pick<Deps, 'kube'>,
  { peer, rendered, statefulSet }: State,
  step: Step,
  signal: AbortSignal,
): Promise<StepResult> {
  const { namespace, name } = peer;
  switch (step.type) {
    case 'hold':
      return setFinalizers(kube, peer, [...finalizersOf(peer), ETCD_PEER_FINALIZER], signal);
    case 'release': {
      const others = finalizersOf(peer).filter((one) => one !== ETCD_PEER_FINALIZER);
      return setFinalizers(kube, peer, others, signal);
    }
    case 'make-claim':
      // One that is there already stays as it is, and the next look says whose it is.
      await kube.create(CLAIMS, claimManifest(peer), { signal });
      return applied('ClaimCreated', `Created claim ${claimName(name)}.`);
    case 'grow':
      return applyStatefulStep(kube, peer, step, signal);
    case 'apply': {
      const { manifest } = rendered;
      const metadata = { ...manifest.metadata, ...(statefulSet && { uid: statefulSet.uid }) };
      await kube.apply(STATEFUL_SETS, { ...manifest, metadata }, { force: true, signal });
      return applied('Applied', `StatefulSet ${name} is as the spec says.`);
    }
    case 'stop':
      return stop(kube, peer, step, signal);
    case 'delete': {
      const { uid } = step.statefulSet;
      await kube.delete(STATEFUL_SETS, { namespace, name }, { uid }, { signal });
      return applied('Ended', `Deleted StatefulSet ${name} (uid ${uid}).`);
    }
    default:
      // The status is written by its own piece.
      return { isSlow: false };
  }
}

type StepOf<Type extends Step['type']> = Extract<Step, { readonly type: Type }>;

async function stop(
  kube: KubeClient,
  { namespace, name }: Peer,
  { statefulSet: { uid, resourceVersion } }: StepOf<'stop'>,
  signal: AbortSignal,
): Promise<StepResult> {
  const body = { metadata: { uid, resourceVersion }, spec: { replicas: 0 } };
  await kube.patch(STATEFUL_SETS, { namespace, name }, { type: 'merge', body }, { signal });
  const message = `Claim ${claimName(name)} is gone, so its pod ends and starts no more.`;
  return { event: { type: 'Warning', reason: 'DataLost', message }, isSlow: false };
}

const finalizersOf = ({ object }: Peer): readonly string[] => object.metadata.finalizers ?? [];

async function setFinalizers(
  kube: KubeClient,
  { namespace, name, object }: Peer,
  finalizers: readonly string[],
  signal: AbortSignal,
): Promise<StepResult> {
  const { resourceVersion } = object.metadata;
  const body = { metadata: { resourceVersion, finalizers } };
  await kube.patch(ETCD_PEERS, { namespace, name }, { type: 'merge', body }, { signal });
  return { isSlow: false };
}
