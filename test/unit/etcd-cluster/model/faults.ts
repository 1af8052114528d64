// Faults that befall an etcd of the model from outside.
import { ETCD_PEERS } from '../../../../shared/api/etcd-peer.ts';
import { CLAIMS } from '../../../../shared/stateful/parts.ts';
import { type EtcdModel, NAMESPACE } from './etcd-model.ts';

/** Its container starts again. */
export function killProcess({ processes }: EtcdModel, peer: string): void {
  processes.delete(`${peer}-0`);
}

/** It seems to be lost, and has its data all the same. */
export function hideVolume(model: EtcdModel, peer: string): void {
  const claim = model.kube.objects.get(`persistentvolumeclaims/${NAMESPACE}/data-${peer}`);
  const { uid = '' } = claim?.metadata ?? {};
  const data = model.data.get(uid);
  model.loseVolume(peer);
  if (data !== undefined) model.data.set(uid, data);
}

export function showVolume({ kube }: EtcdModel, peer: string): void {
  const at = { namespace: NAMESPACE, name: `data-${peer}` };
  kube.change(CLAIMS, at, { status: { phase: 'Bound' } });
}

/** The EtcdCluster is gone: whoever looks after its peers is told that they are to go. */
export function endPeers(model: EtcdModel): void {
  const deletionTimestamp = new Date(model.nowMs).toISOString();
  for (const { metadata } of model.objects('etcdpeers')) {
    const at = { namespace: NAMESPACE, name: metadata.name };
    model.kube.change(ETCD_PEERS, at, { metadata: { deletionTimestamp } });
  }
}
