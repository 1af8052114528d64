// The functions that take a snapshot and restore it, at a place of takeovers: how they are started,
// and the pods of their Jobs, which are processes.
import { join } from 'node:path';
import { etcdBackup } from '../../../functions/etcd-backup/index.ts';
import { etcdRestore } from '../../../functions/etcd-restore/index.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { JobPods } from '../etcd-backup/job-pods.ts';
import { bundleProgram } from '../etcd-backup/program.ts';
import type { EtcdPlace } from '../etcd-cluster/etcd-place.ts';
import { giveToMembers } from '../etcd-restore/restore-place.ts';
import { namespace } from './old-side.ts';

/** Both functions, and the pods of their Jobs. */
export class Copying {
  readonly backups: JobPods;
  readonly restores: JobPods;
  readonly #functions: readonly RunningFunction[];

  private constructor({ backups, restores }: JobPodsOfBoth, functions: readonly RunningFunction[]) {
    this.backups = backups;
    this.restores = restores;
    this.#functions = functions;
  }

  /** `hosts`: the addresses of old members by their names in DNS. */
  static async start(
    etcd: EtcdPlace,
    hosts: Readonly<Record<string, string>> = {},
  ): Promise<Copying> {
    const build = { version: '0.0.0', commit: '' };
    const functions = [etcdBackup, etcdRestore].map(async (one) => {
      const environment = await environmentOf(etcd, one.name);
      return startFunction(one as typeof etcdBackup, { environment, build });
    });
    return new Copying(await startJobPods(etcd, hosts), await Promise.all(functions));
  }

  get ports(): readonly number[] {
    return this.#functions.map(({ port }) => port);
  }

  async stop(): Promise<void> {
    const all = [...this.#functions, this.backups, this.restores];
    await Promise.all(all.map((one) => one.stop()));
  }
}

type JobPodsOfBoth = Pick<Copying, 'backups' | 'restores'>;

async function startJobPods(
  etcd: EtcdPlace,
  hosts: Readonly<Record<string, string>>,
): Promise<JobPodsOfBoth> {
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
const environmentOf = async (
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
