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
import type { Owner } from '../../shared/stateful/parts.ts';

export interface EtcdRestore {
  /** As it was read. */
  readonly object: KubeObject;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly spec: EtcdRestoreSpec;
  readonly status: EtcdRestoreStatus;
}

export function etcdRestoreOf(object: KubeObject): EtcdRestore {
  // The API server holds both to their schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { spec, status = {} } = object as unknown as {
    spec: EtcdRestoreSpec;
    status?: EtcdRestoreStatus;
  };
  const { name, namespace = '', uid, generation = 0 } = object.metadata;
  return { object, namespace, name, uid, generation, spec, status };
}

export const isEnding = ({ object }: Pick<EtcdRestore, 'object'>): boolean =>
  object.metadata.deletionTimestamp !== undefined;

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
