// The etcd operator of improbable: an EtcdPeer for each member, whose ReplicaSet starts the pod
// again; claims that belong to nobody; and one headless Service for members and clients. Pure.
import { IMPROBABLE_ETCDS } from '../../../shared/api/takeover.ts';
import { textOf } from '../../../shared/kube/json.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { fieldOf, type LegacyEtcd, legacyOf } from '../legacy.ts';
import { selectorText } from '../records.ts';
import type { State } from '../state.ts';
import { refuseFinalizers } from './finalizers.ts';
import { isSaidGone, OPERATOR_ANNOTATION } from './gone.ts';
import { notesOnImprobable } from './improbable-notes.ts';
import { refuseNewer } from './newer.ts';
import { type EtcdOperator, goes } from './operator.ts';
import { replicasFor, resourcesOf, storageOf } from './said.ts';

/** Its operator sets no limit; an EtcdCluster has no more. */
const SIZE_MAX = 9;
/** On pods, claims, EtcdPeers, ReplicaSets and the Service. */
const LABEL = 'etcd.improbable.io/cluster-name';
const CLEANUP = 'etcdpeer.etcd.improbable.io/pvc-cleanup';

export const IMPROBABLE: EtcdOperator = {
  ref: IMPROBABLE_ETCDS,
  // Its command is `/manager`, as of many others.
  runsIn: ({ image }) =>
    /(?:^|\/)etcd-cluster-operator(?:-controller)?(?:[:@]|$)/.test(textOf(image)),
  legacyOf: improbableEtcdOf,
  carried: ({ spec, size }) => ({
    ...replicasFor(size),
    ...storageOf(fieldOf(fieldOf(spec, 'storage'), 'volumeClaimTemplate')),
    ...resourcesOf(fieldOf(fieldOf(spec, 'podTemplate'), 'resources')),
  }),
  going: (_, { peers }: State) =>
    peers.flatMap(({ name }) => [
      goes('EtcdPeer', name, 'Goes with the legacy object.'),
      goes('ReplicaSet', name, 'Has the pod; it goes with its EtcdPeer.'),
    ]),
  refuse: (state, legacy) => [...refuseFinalizers(legacy), ...refuseNewer(state)],
  notes: notesOnImprobable,
  unknown:
    'An operator of etcd.improbable.io looks after all namespaces, deletes claims of members ' +
    'that it removes, and would make EtcdPeers anew. Create a Takeover that names its ' +
    'Deployment in spec.legacy.operator; or, if there is none any more, annotate the ' +
    `EtcdCluster with ${OPERATOR_ANNOTATION}: Gone.`,
};

function improbableEtcdOf(object: KubeObject): LegacyEtcd {
  const { resourceVersion, annotations = {} } = object.metadata;
  const legacy = legacyOf(object, SIZE_MAX, ({ replicas }) => replicas);
  const { name } = legacy;
  const labels = { 'app.kubernetes.io/name': 'etcd', [LABEL]: name };
  return {
    ...legacy,
    resourceVersion,
    clientService: name,
    headlessService: name,
    selector: selectorText(labels),
    label: LABEL,
    labels,
    statefulSet: undefined,
    peers: { ref: { ...IMPROBABLE_ETCDS, resource: 'etcdpeers' }, finalizer: CLEANUP },
    // Its members have none, for clients or among each other.
    tls: undefined,
    isClusterwide: !isSaidGone(annotations),
  };
}
