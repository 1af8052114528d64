// Rights that an administrator grants to `etcd-restore` in a namespace that has EtcdRestores.
import type { Manifest } from '../../../shared/kube/objects.ts';
import { granted, rule, type Rule } from './manifests.ts';

const ETCD_RESTORE = 'etcd-restore';

/** It reads no Secret: the kubelet gives them to the pod of a Job. */
const NAMESPACE_RULES: readonly Rule[] = [
  rule('batch', 'jobs', ['create', 'delete', 'get']),
  rule('', 'pods', ['list']),
  // The claim of the first member: made, handed over, and deleted when it failed.
  rule('', 'persistentvolumeclaims', ['create', 'delete', 'get', 'patch']),
  rule('ballast.dev', 'etcdclusters', ['create', 'get']),
  // Where a backup is.
  rule('ballast.dev', 'etcdbackups', ['get']),
  // Whether a name is free.
  rule('ballast.dev', 'etcdpeers', ['get']),
  rule('apps', 'statefulsets', ['get']),
  // Says on the EtcdRestore what was done, and what is told of a pod that waits.
  rule('', 'events', ['create', 'get', 'list']),
];

export const etcdRestoreRights = (namespace: string): readonly Manifest[] =>
  granted(ETCD_RESTORE, { namespace, name: 'ballast-etcd-restore' }, NAMESPACE_RULES);
