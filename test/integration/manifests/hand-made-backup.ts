// An EtcdBackup where no controller makes pods of Jobs: its pod, and how its Job ends, are put
// there by hand. Its function sends the API server the same requests.
import { ETCD_BACKUPS, type EtcdBackupStatus } from '../../../shared/api/etcd-backup.ts';
import {
  ETCD_BACKUP_SCHEDULES,
  type EtcdBackupScheduleStatus,
} from '../../../shared/api/etcd-backup-schedule.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { until } from '../../builders/versioned-kind.ts';

const PODS = { group: '', version: 'v1', resource: 'pods' } as const;
const JOBS = { group: 'batch', version: 'v1', resource: 'jobs' } as const;

const namespace = 'default';
const BACKUP = { namespace, name: 'now' };
const CLUSTER = { namespace, name: 'backed-up' };

export class HandMadeBackup {
  readonly #kube: KubeClient;

  private constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  static async create(kube: KubeClient): Promise<HandMadeBackup> {
    const backup = new HandMadeBackup(kube);
    await backup.#create();
    return backup;
  }

  async #create(): Promise<void> {
    const apiVersion = 'ballast.dev/v1alpha1';
    await this.#kube.create(ETCD_CLUSTERS, {
      apiVersion,
      kind: 'EtcdCluster',
      metadata: CLUSTER,
      spec: {},
    });
    await this.#say(ETCD_CLUSTERS, CLUSTER, { clusterId: 'cdf818194e3a8c32' });
    await this.#createOne(BACKUP.name);
  }

  async #createOne(name: string): Promise<void> {
    const source = { etcdCluster: { name: CLUSTER.name } };
    const spec = { source, target: { claim: { name: 'disk' } } };
    await this.#kube.create(ETCD_BACKUPS, {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'EtcdBackup',
      metadata: { namespace, name },
      spec,
    });
  }

  /** The condition after its type: `False Running: Job now-... takes it to ...`. */
  async condition(type: string, name = BACKUP.name): Promise<string> {
    const object = await this.#kube.get(ETCD_BACKUPS, { namespace, name });
    const { conditions = [] } = (object?.['status'] ?? {}) as EtcdBackupStatus;
    const { status, reason, message } = conditions.find((one) => one.type === type) ?? {};
    return `${status} ${reason}: ${message}`;
  }

  /** Its Job is made, its pod waits, and ends; another one is left that goes on. */
  async live(look: () => Promise<unknown>): Promise<void> {
    const untilSays = (type: string, form: RegExp, name = BACKUP.name): Promise<void> =>
      until(`${name} to say ${form.source}`, async () => {
        await look();
        return form.test(await this.condition(type, name));
      });
    await untilSays('Complete', /^False Running/);
    await this.#startPod();
    await look();
    await this.#end();
    await untilSays('Complete', /^False ResultLost/);
    await this.#createOne('under-way');
    await untilSays('Progressing', /^True /, 'under-way');
    await this.#runAndFail(look);
  }

  /** A run of a schedule is made, and goes when it has failed. */
  async #runAndFail(look: () => Promise<unknown>): Promise<void> {
    await this.#kube.create(ETCD_BACKUP_SCHEDULES, {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'EtcdBackupSchedule',
      metadata: { namespace, name: 'often' },
      spec: {
        schedule: '* * * * *',
        failedHistory: 0,
        template: {
          source: { endpoints: ['http://127.0.0.1:1'] },
          target: { claim: { name: 'disk' } },
        },
      },
    });
    const labelSelector = 'ballast.dev/etcd-backup-schedule=often';
    let uid = '';
    await until('a run to be made', async () => {
      await look();
      const [found] = (await this.#kube.list(ETCD_BACKUPS, { namespace, labelSelector })).items;
      if (found === undefined) return false;
      ({ uid } = found.metadata);
      const { name } = found.metadata;
      await this.#say(ETCD_BACKUPS, { namespace, name }, { phase: 'Failed' });
      return true;
    });
    await until('it to go', async () => {
      await look();
      const { items } = await this.#kube.list(ETCD_BACKUPS, { namespace, labelSelector });
      return items.every(({ metadata }) => metadata.uid !== uid);
    });
    await until('the next one to be under way', async () => {
      await look();
      const often = await this.#kube.get(ETCD_BACKUP_SCHEDULES, { namespace, name: 'often' });
      const { conditions = [] } = (often?.['status'] ?? {}) as EtcdBackupScheduleStatus;
      return conditions.some(({ type, status }) => type === 'Progressing' && status === 'True');
    });
  }

  async #job(): Promise<KubeObject> {
    const labelSelector = 'ballast.dev/etcd-backup';
    const [found] = (await this.#kube.list(JOBS, { namespace, labelSelector })).items;
    if (found === undefined) throw new Error('there is no Job');
    return found;
  }

  /** It is Pending, and nobody says why. */
  async #startPod(): Promise<void> {
    const { name, uid } = (await this.#job()).metadata;
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true };
    const labels = { 'batch.kubernetes.io/controller-uid': uid };
    await this.#kube.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name: 'backing-up', labels, ownerReferences: [owner] },
      spec: { containers: [{ name: 'backup', image: 'none' }] },
    });
  }

  /** And nobody has heard what became of it. */
  async #end(): Promise<void> {
    const { metadata } = await this.#job();
    const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: at });
    await this.#say(
      JOBS,
      { namespace, name: metadata.name },
      {
        startTime: at,
        completionTime: at,
        succeeded: 1,
        conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
      },
    );
  }

  async #say(
    ref: typeof JOBS | typeof ETCD_CLUSTERS | typeof ETCD_BACKUPS,
    at: { readonly namespace: string; readonly name: string },
    status: object,
  ): Promise<void> {
    const target = { ...at, subresource: 'status' };
    await this.#kube.patch(ref, target, { type: 'merge', body: { status } });
  }
}
