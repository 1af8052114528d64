// The label by which everything of a cluster is found. Somebody may take it off a pod: then no
// StatefulSet looks after that, and it runs on; or off a claim, which keeps its data.
import { ETCD_CLUSTER_LABEL } from '../../../../shared/api/etcd-cluster.ts';
import type { KubeObject, ResourceRef } from '../../../../shared/kube/objects.ts';
import { CLAIMS, PODS } from '../../../../shared/stateful/parts.ts';
import type { KubeModel } from '../../stateful/kube-model.ts';

interface Model {
  readonly kube: KubeModel;
}

export const isLabelled = ({ metadata }: KubeObject): boolean =>
  metadata.labels?.[ETCD_CLUSTER_LABEL] === 'etcd';

const setLabel =
  (ref: ResourceRef, nameOf: (peer: string) => string, value: string) =>
  ({ kube }: Model, peer: string): void => {
    const at = { namespace: 'shop', name: nameOf(peer) };
    kube.change(ref, at, { metadata: { labels: { [ETCD_CLUSTER_LABEL]: value } } });
  };

const podOf = (peer: string): string => `${peer}-0`;
const claimOf = (peer: string): string => `data-${peer}`;

export const takeLabelOffPod = setLabel(PODS, podOf, 'other');
export const takeLabelOffClaim = setLabel(CLAIMS, claimOf, 'other');
export const labelClaim = setLabel(CLAIMS, claimOf, 'etcd');
