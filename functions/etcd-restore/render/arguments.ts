// The arguments of the programs in a Job's pod: paths in its pod, and never anything secret. Pure.
import { ETCD_CLUSTER_LABEL, type EtcdClusterSpec } from '../../../shared/api/etcd-cluster.ts';
import { versionOfImage } from '../../../shared/etcd/version.ts';
import { CHECK, CONFIRM } from '../../../shared/jobs/etcdutl.ts';
import { keyOptions } from '../../../shared/jobs/encryption.ts';
import { option, RESULT } from '../../../shared/jobs/manifest.ts';
import { s3Options } from '../../../shared/jobs/s3.ts';
import { quantityOf } from '../../../shared/kube/quantity.ts';
import { clusterNameOf, type EtcdRestore, seedOf, seedUrlOf } from '../object.ts';
import type { Backup } from '../state.ts';
import { DATA_MOUNT, PASSWORD_FILE, ROOT_MOUNT } from './volume-paths.ts';

/** So far ahead that no revision is given twice: more than any client has seen since the backup. */
const BUMP_REVISION = 1_000_000_000;

export function checkArguments(
  restore: EtcdRestore,
  backup: Backup,
  { image, quota, auth }: EtcdClusterSpec,
): readonly string[] {
  const { from, sha256, s3, encryption } = backup;
  return [
    CHECK,
    option('from', from),
    ...(s3 === undefined ? [] : s3Options(s3)),
    ...(sha256 === undefined ? [] : [option('sha256', sha256)]),
    ...keyOptions(encryption),
    option('etcd-version', versionOfImage(image)),
    option('quota-bytes', `${Math.floor(quantityOf(quota))}`),
    option('locked-out', lockedOut(clusterNameOf(restore), auth !== undefined)),
    ...(auth === undefined ? [] : [option('root-password-file', `${ROOT_MOUNT}/${PASSWORD_FILE}`)]),
    option('dir', DATA_MOUNT),
    RESULT,
  ];
}

function lockedOut(cluster: string, hasAuth: boolean): string {
  const secret =
    `Create Secret ${cluster}-root before, with the label ${ETCD_CLUSTER_LABEL}=${cluster} and ` +
    "root's password of that etcd as password";
  return hasAuth
    ? `There is no Secret ${cluster}-root with a password. ${secret}.`
    : `${secret}, and write auth into spec.etcdCluster.spec.`;
}

export function etcdutlArguments(restore: EtcdRestore, target: EtcdClusterSpec): readonly string[] {
  const [seed, url] = [seedOf(restore), seedUrlOf(restore, target)];
  return [
    'snapshot',
    'restore',
    `${DATA_MOUNT}/restore/backup.db`,
    option('data-dir', `${DATA_MOUNT}/data`),
    option('bump-revision', `${BUMP_REVISION}`),
    '--mark-compacted',
    option('name', seed),
    option('initial-cluster', `${seed}=${url}`),
    option('initial-advertise-peer-urls', url),
    option('initial-cluster-token', restore.uid),
  ];
}

export const confirmArguments = (): readonly string[] => [
  CONFIRM,
  option('bump-revision', `${BUMP_REVISION}`),
  option('dir', DATA_MOUNT),
  RESULT,
];
