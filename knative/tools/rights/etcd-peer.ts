// Rights that an administrator grants to `etcd-peer` in a namespace that has EtcdClusters.
import type { Manifest } from '../../../shared/kube/objects.ts';
import { granted, narrowed, rule, type Rule } from './manifests.ts';

const ETCD_PEER = 'etcd-peer';
/** The most members that a peer may start among, and so the most places that are in use. */
const PLACES = 16;

const NAMESPACE_RULES: readonly Rule[] = [
  // Holds a peer until its pod is gone.
  rule('ballast.dev', 'etcdpeers', ['patch']),
  rule('apps', 'statefulsets', ['create', 'delete', 'get', 'patch']),
  // Claims grow; etcd-cluster alone deletes them.
  rule('', 'persistentvolumeclaims', ['create', 'get', 'patch']),
  rule('', 'pods', ['get']),
  // Says on the EtcdPeer what was done, and what is told of a claim that gets no volume.
  rule('', 'events', ['create', 'get', 'list']),
];

/** `cluster` undefined: for every EtcdCluster that the namespace has or gets. */
export function etcdPeerRights(namespace: string, cluster?: string): readonly Manifest[] {
  const name = `ballast-etcd-peer${cluster === undefined ? '' : `.${cluster}`}`;
  const rules = cluster === undefined ? NAMESPACE_RULES : rulesFor(cluster);
  return granted(ETCD_PEER, { namespace, name }, rules);
}

/** The same by name: RBAC knows no labels, and what is listed or created has no name for it. */
function rulesFor(cluster: string): readonly Rule[] {
  const peers = Array.from({ length: PLACES }, (_, ordinal) => `${cluster}-${ordinal}`);
  return narrowed(NAMESPACE_RULES, {
    etcdpeers: peers,
    statefulsets: peers,
    persistentvolumeclaims: peers.map((peer) => `data-${peer}`),
    pods: peers.map((peer) => `${peer}-0`),
  });
}
