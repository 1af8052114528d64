// An EtcdRestore as it was read, in the terms of this function, and the names of what belongs to
// it. Pure.
import type { EtcdClusterSpec } from '../../shared/api/etcd-cluster.ts';
import { claimName, memberPeerUrl, peerNameOf, peerSelector } from '../../shared/api/etcd-names.ts';
import {
  ETCD_RESTORE_LABEL,
  ETCD_RESTORES,
  type EtcdRestoreSpec,
  type EtcdRestoreStatus,
} from '../../shared/api/etcd-restore.ts';
import { bornClusterId } from '../../shared/etcd/cluster-id.ts';
import { apiVersionOf, type KubeObject } from '../../shared/kube/objects.ts';
import { type OwnObject, ownObjectOf } from '../../shared/kube/own-object.ts';
import type { Owner } from '../../shared/stateful/parts.ts';

export type EtcdRestore = OwnObject<EtcdRestoreSpec, EtcdRestoreStatus>;

export const etcdRestoreOf: (object: KubeObject) => EtcdRestore = ownObjectOf;

/** Then nothing is done any more, whatever becomes of what it made. */
export const isOver = ({ status: { phase } }: Pick<EtcdRestore, 'status'>): boolean =>
  phase === 'Complete' || phase === 'Failed';

export const clusterNameOf = ({ spec }: Pick<EtcdRestore, 'spec'>): string => spec.etcdCluster.name;

/** The first member, whose data is restored. */
export const seedOf = (restore: Pick<EtcdRestore, 'spec'>): string =>
  peerNameOf(clusterNameOf(restore), 0);

export const seedClaimOf = (restore: Pick<EtcdRestore, 'spec'>): string =>
  claimName(seedOf(restore));

export function seedUrlOf(restore: EtcdRestore, { tls }: Pick<EtcdClusterSpec, 'tls'>): string {
  const place = { namespace: restore.namespace, cluster: clusterNameOf(restore) };
  return memberPeerUrl({ ...place, peer: seedOf(restore) }, tls.peers);
}

/** Another one for each restore, since no two have one uid. */
export const clusterIdOf = (restore: EtcdRestore, spec: Pick<EtcdClusterSpec, 'tls'>): string =>
  bornClusterId([[seedUrlOf(restore, spec)]], restore.uid);

const labelsOf = ({ name }: Pick<EtcdRestore, 'name'>): Readonly<Record<string, string>> => ({
  'app.kubernetes.io/name': 'etcd-restore',
  'app.kubernetes.io/managed-by': 'ballast',
  [ETCD_RESTORE_LABEL]: name,
});

/** By these, etcd-cluster and etcd-peer know the claim of the first member for theirs. */
export const memberLabelsOf = (
  restore: Pick<EtcdRestore, 'spec'>,
): Readonly<Record<string, string>> => ({
  'app.kubernetes.io/name': 'etcd',
  'app.kubernetes.io/managed-by': 'ballast',
  ...peerSelector(clusterNameOf(restore), seedOf(restore)),
});

/** Its Job is deleted with it, and its claim as long as that is no member's. */
export const ownerOf = (restore: EtcdRestore): Owner => ({
  apiVersion: apiVersionOf(ETCD_RESTORES),
  kind: 'EtcdRestore',
  name: restore.name,
  namespace: restore.namespace,
  uid: restore.uid,
  labels: labelsOf(restore),
});
