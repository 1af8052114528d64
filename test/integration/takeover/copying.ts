// The functions that take a snapshot and restore it, at a place of takeovers: how they are started,
// and the pods of their Jobs, which are processes.
import { join } from 'node:path';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { JobPods } from '../etcd-backup/job-pods.ts';
import { bundleProgram } from '../etcd-backup/program.ts';
import type { EtcdPlace } from '../etcd-cluster/etcd-place.ts';
import { giveToMembers } from '../etcd-restore/restore-place.ts';
import { namespace } from './old-side.ts';

interface Copying {
  readonly backups: JobPods;
  readonly restores: JobPods;
}

/** `hosts`: the addresses of old members by their names in DNS. */
export async function startJobPods(
  etcd: EtcdPlace,
  hosts: Readonly<Record<string, string>>,
): Promise<Copying> {
  const { plane, kube } = etcd;
  const dist = join(plane.dir, 'dist');
  const claimDir = (_: string, claim: string) => etcd.claimDir({ namespace, name: '' }, claim);
  const backups = new JobPods(kube, join(plane.dir, 'backup-pods'), {
    programs: { '/app/etcd-backup.mjs': await bundleProgram('etcd-backup', dist) },
    claimDir,
    hosts,
  });
  const restores = new JobPods(kube, join(plane.dir, 'restore-pods'), {
    label: 'ballast.dev/etcd-restore',
    programs: {
      '/app/etcd-restore.mjs': await bundleProgram('etcd-restore', dist),
      '/usr/local/bin/etcdutl': await resolvePart('etcdutl'),
    },
    claimDir,
    between: giveToMembers,
  });
  backups.start();
  restores.start();
  return { backups, restores };
}

/** As the account of its manifests. */
export const environmentOf = async (
  etcd: EtcdPlace,
  name: string,
): Promise<Readonly<Record<string, string>>> => ({
  PORT: '0',
  LOG_LEVEL: 'silent',
  DRAIN_MINIMUM_SECONDS: '0',
  WORK_SECONDS: '5',
  ETCD_BACKUP_IMAGE: 'dev.local/ballast/etcd-backup:0.1.0',
  ETCD_RESTORE_IMAGE: 'dev.local/ballast/etcd-restore:0.1.0',
  KUBECONFIG: await etcd.kubeconfigOf({ namespace: 'ballast-system', name }),
});
