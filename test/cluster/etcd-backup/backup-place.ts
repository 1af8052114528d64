// Where backups of an EtcdCluster are taken and restored in real pods: the images that ship, a
// storage that speaks S3, a namespace that restricts its pods, and both functions with the rights
// of their manifests. Time goes on by hand for what is due.
import { etcdBackup } from '../../../functions/etcd-backup/index.ts';
import { etcdRestore } from '../../../functions/etcd-restore/index.ts';
import { etcdBackupRights } from '../../../knative/tools/rights/etcd-backup.ts';
import { etcdRestoreRights } from '../../../knative/tools/rights/etcd-restore.ts';
import { archiveOfFunctions, imageOf } from '../../../knative/try/cluster/functions/archive.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import { ETCD_BACKUP_SCHEDULES } from '../../../shared/api/etcd-backup-schedule.ts';
import { ETCD_RESTORES } from '../../../shared/api/etcd-restore.ts';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import type { Condition } from '../../../shared/kube/conditions.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { until } from '../../builders/versioned-kind.ts';
import { SCENARIO_MS } from '../../integration/etcd-cluster/etcd-scene.ts';
import { EtcdPodPlace } from '../etcd-cluster/pod-place.ts';
import { startStorage, type Storage } from './storage.ts';

const FUNCTIONS = [etcdBackup, etcdRestore];
const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' } as const;
const SWEEP = 'dev.knative.sources.ping';

const KINDS = {
  EtcdBackup: ETCD_BACKUPS,
  EtcdBackupSchedule: ETCD_BACKUP_SCHEDULES,
  EtcdRestore: ETCD_RESTORES,
} as const;

type Kind = keyof typeof KINDS;

interface Status {
  readonly phase?: string;
  readonly conditions?: readonly Condition[];
}

export class BackupPlace {
  readonly etcd: EtcdPodPlace;
  readonly namespace: string;
  readonly storage: Storage;
  #functions: readonly RunningFunction[] = [];
  #aheadMs = 0;

  private constructor(etcd: EtcdPodPlace, namespace: string, storage: Storage) {
    this.etcd = etcd;
    this.namespace = namespace;
    this.storage = storage;
  }

  /** With an EtcdCluster of one member, which is Ready. */
  static async open(namespace: string, cluster: string): Promise<BackupPlace> {
    const etcd = await EtcdPodPlace.open();
    try {
      await etcd.namespace(namespace);
      const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
      const body = { metadata: { labels } };
      await etcd.kube.patch(NAMESPACES, { name: namespace }, { type: 'merge', body });
      const rights = [...etcdBackupRights(namespace), ...etcdRestoreRights(namespace)];
      const file = 'npm run rights';
      await applyObjects(
        etcd.kube,
        rights.map((object) => ({ file, object })),
      );
      const at = { namespace, name: cluster };
      await etcd.create(at, { replicas: 1, storage: { size: '10Gi' } });
      const names = FUNCTIONS.map(({ name }) => name);
      const archive = await archiveOfFunctions(names, new AbortController().signal);
      await etcd.nodes.importImage(archive);
      const place = new BackupPlace(etcd, namespace, await startStorage(etcd, namespace));
      await place.#start();
      await etcd.wakeUntilReady(at);
      return place;
    } catch (error) {
      await etcd.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#functions.map((one) => one.stop()));
    await this.storage.bucket.close();
    await this.etcd.close();
  }

  async #start(): Promise<void> {
    const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + this.#aheadMs };
    const build = { version: '0.0.0', commit: '' };
    const common = { PORT: '0', LOG_LEVEL: 'silent', DRAIN_MINIMUM_SECONDS: '0' };
    const environmentOf = async (name: string, image: string) => ({
      ...common,
      [image]: imageOf(name),
      KUBECONFIG: await this.etcd.kubeconfigOf({ namespace: 'ballast-system', name }),
    });
    const backup = await environmentOf(etcdBackup.name, 'ETCD_BACKUP_IMAGE');
    const restore = await environmentOf(etcdRestore.name, 'ETCD_RESTORE_IMAGE');
    this.#functions = await Promise.all([
      startFunction(etcdBackup, { environment: backup, build, clock }),
      startFunction(etcdRestore, { environment: restore, build }),
    ]);
  }

  /** For what `etcd-backup` has to do at its time. */
  letPass(ms: number): void {
    this.#aheadMs += ms;
  }

  async create(kind: Kind, name: string, spec: object): Promise<void> {
    const { namespace } = this;
    const metadata = { namespace, name };
    const apiVersion = 'ballast.dev/v1alpha1';
    await this.etcd.kube.create(KINDS[kind], { apiVersion, kind, metadata, spec });
  }

  async read(kind: Kind, name: string): Promise<KubeObject> {
    const { namespace } = this;
    const found = await this.etcd.kube.get(KINDS[kind], { namespace, name });
    if (found === null) throw new Error(`there is no ${kind} ${name}`);
    return found;
  }

  async condition(kind: Kind, name: string, type: string): Promise<string> {
    const { conditions = [] }: Status = (await this.read(kind, name))['status'] ?? {};
    const found = conditions.find((one) => one.type === type);
    return `${found?.status} ${found?.reason}: ${found?.message}`;
  }

  async sweep(): Promise<void> {
    const send = async ({ port }: RunningFunction): Promise<void> => {
      await (await sendEvent(port, SWEEP, {})).text();
    };
    await Promise.all(this.#functions.map(send));
  }

  /** Swept as often as it takes. */
  async untilSwept(awaited: string, isSo: () => Promise<boolean>): Promise<void> {
    const check = async (): Promise<boolean> => {
      await this.sweep();
      return isSo();
    };
    await until(awaited, check, SCENARIO_MS / 2);
  }

  /** Its condition Complete says so; swept as often as it takes. */
  async untilSays(kind: Kind, name: string, form: RegExp): Promise<void> {
    let said = '';
    const isSaid = async (): Promise<boolean> => {
      said = await this.condition(kind, name, 'Complete');
      return form.test(said);
    };
    const awaited = `${name} to say ${form.source}`;
    await this.untilSwept(awaited, isSaid).catch((cause: unknown) => {
      throw new Error(`${name} says ${said}`, { cause });
    });
  }
}
