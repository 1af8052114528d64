// Faults that befall an etcd of the model from outside.
import { ETCD_PEERS } from '../../../../shared/api/etcd-peer.ts';
import { CLAIMS, PODS } from '../../../../shared/stateful/parts.ts';
import { type EtcdModel, NAMESPACE } from './etcd-model.ts';
import { unready } from './pod-times.ts';

/** Its container starts again. */
export function killProcess({ processes }: EtcdModel, peer: string): void {
  processes.delete(`${peer}-0`);
}

/** Its volume is empty, and its container starts again: a disk that does not outlive its node. */
export function wipe(model: EtcdModel, peer: string): void {
  const claim = model.kube.objects.get(`persistentvolumeclaims/${NAMESPACE}/data-${peer}`);
  model.data.delete(claim?.metadata.uid ?? '');
  killProcess(model, peer);
}

/** Its disk gives back other bytes than it was given, so that its container ends at each start. */
export function spoil(model: EtcdModel, peer: string): void {
  const claim = model.kube.objects.get(`persistentvolumeclaims/${NAMESPACE}/data-${peer}`);
  const data = model.data.get(claim?.metadata.uid ?? '');
  if (data !== undefined) data.isUnfit = true;
  killProcess(model, peer);
}

/** Nodes that hold all pods are away for a moment: the pods are made anew. */
export function losePods(model: EtcdModel): void {
  for (const { metadata } of model.objects('pods')) {
    model.processes.delete(metadata.name);
    model.kube.remove(PODS, { namespace: NAMESPACE, name: metadata.name });
  }
}

/** It does not run, and cannot start, and has its data. */
export function keepDown(model: EtcdModel, peer: string): void {
  setPhase(model, peer, 'Pending');
  killProcess(model, peer);
  model.kube.change(PODS, { namespace: NAMESPACE, name: `${peer}-0` }, unready);
}

/** It gets no volume. */
export const holdClaim = (model: EtcdModel, peer: string): void => setPhase(model, peer, 'Pending');

export const letStart = (model: EtcdModel, peer: string): void => setPhase(model, peer, 'Bound');

function setPhase({ kube }: EtcdModel, peer: string, phase: string): void {
  kube.change(CLAIMS, { namespace: NAMESPACE, name: `data-${peer}` }, { status: { phase } });
}

/** The disk under it dies: its claim stays. */
export function loseVolume(model: EtcdModel, peer: string): void {
  const claim = model.kube.objects.get(`persistentvolumeclaims/${NAMESPACE}/data-${peer}`);
  model.data.delete(claim?.metadata.uid ?? '');
  killProcess(model, peer);
  setPhase(model, peer, 'Lost');
  model.kube.change(PODS, { namespace: NAMESPACE, name: `${peer}-0` }, unready);
}

/** It seems to be lost, and has its data all the same. */
export function hideVolume(model: EtcdModel, peer: string): void {
  const claim = model.kube.objects.get(`persistentvolumeclaims/${NAMESPACE}/data-${peer}`);
  const { uid = '' } = claim?.metadata ?? {};
  const data = model.data.get(uid);
  loseVolume(model, peer);
  if (data !== undefined) model.data.set(uid, data);
}

/** The EtcdCluster is gone: whoever looks after its peers is told that they are to go. */
export function endPeers(model: EtcdModel): void {
  const deletionTimestamp = new Date(model.nowMs).toISOString();
  for (const { metadata } of model.objects('etcdpeers')) {
    const at = { namespace: NAMESPACE, name: metadata.name };
    model.kube.change(ETCD_PEERS, at, { metadata: { deletionTimestamp } });
  }
}
