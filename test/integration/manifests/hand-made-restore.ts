// EtcdRestores where no controller makes pods of Jobs, and nobody keeps EtcdClusters: pods, the
// ends of Jobs, and what an EtcdCluster says of itself are put there by hand. The function sends
// the API server the same requests.
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { ETCD_RESTORES, type EtcdRestoreStatus } from '../../../shared/api/etcd-restore.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';
import { until } from '../../builders/versioned-kind.ts';
import { FACTS } from '../../unit/etcd-backup/samples.ts';

const PODS = { group: '', version: 'v1', resource: 'pods' } as const;
const JOBS = { group: 'batch', version: 'v1', resource: 'jobs' } as const;

const namespace = 'default';
const AT = '2026-11-25T04:10:00Z';
export class HandMadeRestore {
  readonly #kube: KubeClient;

  private constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  static async create(kube: KubeClient): Promise<HandMadeRestore> {
    const restore = new HandMadeRestore(kube);
    const target = { s3: { bucket: 'backups', credentials: { secretName: 's3' } } };
    const spec = { source: { endpoints: ['http://10.0.0.1:2379'] }, target };
    await restore.#make(ETCD_BACKUPS, 'EtcdBackup', 'last', spec);
    const status = { phase: 'Complete', location: 's3://backups/last.db', backup: FACTS };
    await restore.#say(ETCD_BACKUPS, 'last', status);
    await restore.#restore('back');
    return restore;
  }

  async #make(ref: ResourceRef, kind: string, name: string, spec: object): Promise<void> {
    const apiVersion = 'ballast.dev/v1alpha1';
    await this.#kube.create(ref, { apiVersion, kind, metadata: { namespace, name }, spec });
  }

  #restore(name: string): Promise<void> {
    const source = { etcdBackup: { name: 'last' } };
    const etcdCluster = { name: `of-${name}` };
    return this.#make(ETCD_RESTORES, 'EtcdRestore', name, { source, etcdCluster });
  }

  /** The condition after its type: `False Running: Job back-... restores s3://...`. */
  async condition(type: string, name = 'back'): Promise<string> {
    const object = await this.#kube.get(ETCD_RESTORES, { namespace, name });
    const { conditions = [] } = (object?.['status'] ?? {}) as EtcdRestoreStatus;
    const { status, reason, message } = conditions.find((one) => one.type === type) ?? {};
    return `${status} ${reason}: ${message}`;
  }

  /** One becomes an EtcdCluster, one fails, and another one is left that goes on. */
  async live(look: () => Promise<unknown>): Promise<void> {
    const untilSays = async (type: string, form: RegExp, name = 'back'): Promise<void> => {
      let said = '';
      const isSaid = async (): Promise<boolean> => {
        await look();
        said = await this.condition(type, name);
        return form.test(said);
      };
      await until(`${name} to say ${form.source}`, isSaid).catch((cause: unknown) => {
        throw new Error(`${name} says ${said}`, { cause });
      });
    };
    await untilSays('Complete', /^False Running/);
    await this.#startPod('back');
    await look();
    await this.#succeed('back');
    await untilSays('Complete', /^False EtcdClusterStarting/);
    await this.#serve('of-back');
    await untilSays('Complete', /^True Restored/);
    await this.#restore('failed');
    await untilSays('Complete', /^False Running/, 'failed');
    await this.#endJob('failed', 'Failed');
    await untilSays('Complete', /^False RestoreFailed/, 'failed');
    await this.#restore('under-way');
    await untilSays('Progressing', /^True /, 'under-way');
  }

  async #job(name: string): Promise<KubeObject> {
    const labelSelector = `ballast.dev/etcd-restore=${name}`;
    const [found] = (await this.#kube.list(JOBS, { namespace, labelSelector })).items;
    if (found === undefined) throw new Error('there is no Job');
    return found;
  }

  /** It is Pending, and nobody says why. */
  async #startPod(of: string): Promise<void> {
    const { name, uid } = (await this.#job(of)).metadata;
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true };
    const labels = { 'batch.kubernetes.io/controller-uid': uid };
    await this.#kube.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name: 'restoring', labels, ownerReferences: [owner] },
      spec: { containers: [{ name: 'confirm', image: 'none' }] },
    });
  }

  async #succeed(of: string): Promise<void> {
    const facts = { kind: 'etcd-backup/v1', ...FACTS };
    const message = JSON.stringify({ outcome: 'done', revision: '1000000006', facts });
    const terminated = { exitCode: 0, message, startedAt: AT, finishedAt: AT };
    const container = { name: 'confirm', image: '', imageID: '', ready: false, restartCount: 0 };
    const containerStatuses = [{ ...container, state: { terminated } }];
    await this.#say(PODS, 'restoring', { phase: 'Succeeded', containerStatuses });
    await this.#endJob(of, 'Complete');
  }

  async #endJob(of: string, type: 'Complete' | 'Failed'): Promise<void> {
    const { metadata } = await this.#job(of);
    const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const condition = (one: string) => ({ type: one, status: 'True', lastTransitionTime: at });
    const before = type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
    const done = type === 'Complete' ? { completionTime: at, succeeded: 1 } : {};
    const conditions = [condition(before), condition(type)];
    await this.#say(JOBS, metadata.name, { startTime: at, conditions, ...done });
  }

  async #serve(name: string): Promise<void> {
    const found = await this.#kube.get(ETCD_CLUSTERS, { namespace, name });
    const clusterId = found?.metadata.annotations?.['ballast.dev/etcd-cluster-id'];
    const ready = { type: 'Ready', status: 'True', reason: 'Whole', message: 'It is.' };
    const conditions = [{ ...ready, lastTransitionTime: AT }];
    await this.#say(ETCD_CLUSTERS, name, { clusterId, conditions });
  }

  async #say(ref: ResourceRef, name: string, status: object): Promise<void> {
    const target = { namespace, name, subresource: 'status' };
    await this.#kube.patch(ref, target, { type: 'merge', body: { status } });
  }
}
