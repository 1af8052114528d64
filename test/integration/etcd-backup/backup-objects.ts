// EtcdBackups as somebody makes and sees them who has the API server alone.
import { ETCD_BACKUPS, type EtcdBackupStatus } from '../../../shared/api/etcd-backup.ts';
import { JOBS } from '../../../shared/jobs/observe.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;

export class BackupObjects {
  readonly #kube: KubeClient;
  readonly #namespace: string;

  constructor(kube: KubeClient, namespace: string) {
    this.#kube = kube;
    this.#namespace = namespace;
  }

  async makeNamespace(): Promise<void> {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.#namespace } };
    await this.#kube.create(core('namespaces'), object);
  }

  async make(resource: string, kind: string, name: string, body: object): Promise<void> {
    const metadata = { namespace: this.#namespace, name };
    await this.#kube.create(core(resource), { apiVersion: 'v1', kind, metadata, ...body });
  }

  async create(name: string, spec: object): Promise<void> {
    const metadata = { namespace: this.#namespace, name };
    const apiVersion = 'ballast.dev/v1alpha1';
    await this.#kube.create(ETCD_BACKUPS, { apiVersion, kind: 'EtcdBackup', metadata, spec });
  }

  read(name: string): Promise<KubeObject | null> {
    return this.#kube.get(ETCD_BACKUPS, { namespace: this.#namespace, name });
  }

  async statusOf(name: string): Promise<EtcdBackupStatus> {
    return (await this.read(name))?.['status'] ?? {};
  }

  /** Whether it is complete: `False Running: Job ...`. */
  async conditionOf(name: string): Promise<string> {
    const { conditions = [] } = await this.statusOf(name);
    const found = conditions.find(({ type }) => type === 'Complete');
    return `${found?.status} ${found?.reason}: ${found?.message}`;
  }

  async jobOf(name: string): Promise<KubeObject | null> {
    const { job } = await this.statusOf(name);
    if (job === undefined) return null;
    return this.#kube.get(JOBS, { namespace: this.#namespace, name: job.name });
  }
}
