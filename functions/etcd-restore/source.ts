// Finds the backup that is to be restored: as its EtcdBackup says, or as the spec does. Reads
// alone.
import {
  ETCD_BACKUPS,
  type EtcdBackupSpec,
  type EtcdBackupStatus,
} from '../../shared/api/etcd-backup.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { ownObjectOf } from '../../shared/kube/own-object.ts';
import type { EtcdRestore } from './object.ts';
import { SOURCE_MOUNT } from './render/volume-paths.ts';
import type { Backup, Lack } from './state.ts';

export async function readSource(
  kube: KubeClient,
  restore: EtcdRestore,
  signal: AbortSignal,
): Promise<Backup | Lack> {
  const found = await findBackup(kube, restore, signal);
  const { encryption } = restore.spec.source;
  return 'reason' in found || encryption === undefined ? found : { ...found, encryption };
}

async function findBackup(
  kube: KubeClient,
  { namespace, spec }: EtcdRestore,
  signal: AbortSignal,
): Promise<Backup | Lack> {
  const { etcdBackup, s3, claim } = spec.source;
  if (s3 !== undefined) {
    const { key, ...rest } = s3;
    const from = `s3://${s3.bucket}/${key}`;
    return { from, location: from, s3: rest };
  }
  if (claim !== undefined) return onClaim(claim.name, claim.path);
  const { name } = etcdBackup ?? { name: '' };
  const found = await kube.get(ETCD_BACKUPS, { namespace, name }, { signal });
  if (found === null) {
    const message =
      `There is no EtcdBackup ${namespace}/${name}. It goes on when there is; for another one ` +
      'create another EtcdRestore.';
    return { reason: 'EtcdBackupMissing', message, isFinal: false };
  }
  const { spec: of, status } = ownObjectOf<EtcdBackupSpec, EtcdBackupStatus>(found);
  return ofBackup(`EtcdBackup ${namespace}/${name}`, of, status);
}

const onClaim = (name: string, path: string): Backup => ({
  from: `${SOURCE_MOUNT}/${path}`,
  location: `claim://${name}/${path}`,
  claimName: name,
});

function ofBackup(
  who: string,
  { target, encryption }: EtcdBackupSpec,
  status: EtcdBackupStatus,
): Backup | Lack {
  const { phase, location = '', backup } = status;
  if (phase === 'Failed') {
    return { reason: 'EtcdBackupFailed', message: failed(who, status), isFinal: true };
  }
  if (phase !== 'Complete' || backup === undefined) {
    const message = `${who} is not complete yet. It goes on when it is.`;
    return { reason: 'EtcdBackupUnfinished', message, isFinal: false };
  }
  const { s3, claim } = target;
  const { sha256 } = backup;
  const known = { sha256, ...(encryption === undefined ? {} : { encryption }) };
  if (s3 !== undefined && location.startsWith(`s3://${s3.bucket}/`)) {
    const { key: _key, serverSideEncryption: _encryption, ...rest } = s3;
    return { from: location, location, s3: rest, ...known };
  }
  const root = `claim://${claim?.name ?? ''}/`;
  if (claim !== undefined && location.startsWith(root)) {
    return { ...onClaim(claim.name, location.slice(root.length)), ...known };
  }
  const message = `${who} says that it is at ${location}, which is not where its spec has it.`;
  return { reason: 'EtcdBackupUnclear', message, isFinal: true };
}

function failed(who: string, { location = '', backup }: EtcdBackupStatus): string {
  if (backup === undefined) {
    return `${who} has failed, so there is nothing to restore. Name another one.`;
  }
  return (
    `${who} is stored at ${location}, and its rehearsal failed, so it may not be fit to be ` +
    'restored. Name another one; if there is none, name that place itself in another ' +
    'EtcdRestore, with source.s3 or source.claim.'
  );
}
