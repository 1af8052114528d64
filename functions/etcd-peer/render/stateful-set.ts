// The StatefulSet of a peer: one pod, which comes back while no function is awake, and never runs
// twice. A changed template restarts nobody, because etcd-cluster decides whose turn it is. Pure.
import { headlessName } from '../../../shared/api/etcd-names.ts';
import { hashOf } from '../../../shared/hash.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { owned } from '../../../shared/stateful/parts.ts';
import { statefulSetOf } from '../../../shared/stateful/pod-spec.ts';
import { labelsOf, ownerOf, type Peer, selectorOf } from '../peer.ts';
import { podSpec } from './pod.ts';

export interface Shape {
  /** Its claim holds the data of a cluster already, so it must not start another one. */
  readonly isBorn: boolean;
}

export interface Rendered {
  readonly manifest: Manifest;
  /** Hash of the pod template: a pod with another one has to be made anew. */
  readonly templateHash: string;
}

export function render(peer: Peer, { isBorn }: Shape): Rendered {
  const { certificatesHash, cluster, running } = peer.spec;
  // Whether it was born is no reason for a restart: a member with data does not read it.
  const templateHash = hashOf({ pod: podSpec(peer, false), certificatesHash });
  const spec = statefulSetOf({
    replicas: running ? 1 : 0,
    serviceName: headlessName(cluster),
    selector: selectorOf(peer),
    labels: labelsOf(peer),
    templateHash,
    pod: podSpec(peer, isBorn),
  });
  const manifest = owned(ownerOf(peer), 'apps/v1', 'StatefulSet', peer.name, { spec });
  return { manifest, templateHash };
}
