// An EtcdBackup as it was read, in the terms of this function, and the names of what belongs to
// it. Pure.
import {
  ETCD_BACKUP_LABEL,
  ETCD_BACKUPS,
  type EtcdBackupSpec,
  type EtcdBackupStatus,
} from '../../shared/api/etcd-backup.ts';
import { apiVersionOf, type KubeObject } from '../../shared/kube/objects.ts';
import { type OwnObject, ownObjectOf } from '../../shared/kube/own-object.ts';
import type { Owner } from '../../shared/stateful/parts.ts';

export type EtcdBackup = OwnObject<EtcdBackupSpec, EtcdBackupStatus>;

export const etcdBackupOf: (object: KubeObject) => EtcdBackup = ownObjectOf;

/** Then nothing is done any more, whatever becomes of its Job. */
export const isOver = ({ status: { phase } }: Pick<EtcdBackup, 'status'>): boolean =>
  phase === 'Complete' || phase === 'Failed';

/** Where a claim is mounted. */
export const CLAIM_DIR = '/target';

/** The name of the backup for the program. */
export function destinationOf(backup: EtcdBackup): string {
  const { s3, claim } = backup.spec.target;
  const { namespace, name } = backup;
  if (s3 !== undefined) {
    const { bucket, key = `${namespace}/${name}/${defaultName(backup)}` } = s3;
    return `s3://${bucket}/${key}`;
  }
  return `${CLAIM_DIR}/${claim?.path ?? `${name}-${defaultName(backup)}`}`;
}

/** The default name has the uid of its EtcdBackup, so that no other one writes there. */
export const isNameOwn = ({ spec: { target } }: EtcdBackup): boolean =>
  target.s3 !== undefined && target.s3.key === undefined;

/** Its name for people, to whom a path in a pod means nothing. */
export function locationOf(backup: EtcdBackup): string {
  const { claim } = backup.spec.target;
  const destination = destinationOf(backup);
  if (claim === undefined) return destination;
  return `claim://${claim.name}${destination.slice(CLAIM_DIR.length)}`;
}

/** Names sort by time, and no other object of the same name has this one. */
function defaultName({ object, uid }: EtcdBackup): string {
  const time = (object.metadata.creationTimestamp ?? '').replaceAll(/[-:]/g, '');
  return `${time}-${uid}.db`;
}

export const labelsOf = ({ name }: Pick<EtcdBackup, 'name'>): Readonly<Record<string, string>> => ({
  'app.kubernetes.io/name': 'etcd-backup',
  'app.kubernetes.io/managed-by': 'ballast',
  [ETCD_BACKUP_LABEL]: name,
});

/** Its Job is deleted with it; what is stored stays. */
export const ownerOf = (backup: EtcdBackup): Owner => ({
  apiVersion: apiVersionOf(ETCD_BACKUPS),
  kind: 'EtcdBackup',
  name: backup.name,
  namespace: backup.namespace,
  uid: backup.uid,
  labels: labelsOf(backup),
});
