// A place for EtcdBackups: an API server whose etcd is backed up, a real S3, Kubernetes' own
// controllers for Jobs, whose pods are processes, and the function under its own account.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { etcdBackup } from '../../../functions/etcd-backup/index.ts';
import { etcdBackupRights } from '../../../knative/tools/rights/etcd-backup.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { ServiceAccounts } from '../../../knative/try/local/cluster/service-accounts.ts';
import { addControllerManager } from '../../../knative/try/local/plane/kube-controller-manager.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { type Bucket, openBucket } from '../../../shared/s3/bucket.ts';
import { settingsFor } from '../../builders/posing-s3.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { type Shipped, startShipped } from '../../builders/shipped.ts';
import { BackupObjects } from './backup-objects.ts';
import { JobPods } from './job-pods.ts';
import { bundleProgram } from './program.ts';
import { BUCKET, KEYS, type S3Server, startS3 } from './s3-server.ts';

export const namespace = 'shop';
const IMAGE = 'dev.local/ballast/etcd-backup:0.1.0';

export class BackupPlace {
  readonly shipped: Shipped;
  readonly s3: S3Server;
  readonly bucket: Bucket;
  readonly pods: JobPods;
  readonly backups: BackupObjects;
  readonly #accounts: ServiceAccounts;
  readonly #clock: Clock;
  #function: RunningFunction | undefined;

  private constructor(shipped: Shipped, s3: S3Server, pods: JobPods, clock: Clock) {
    const { plane, kube } = shipped;
    const given = { ...KEYS, sessionToken: undefined };
    this.shipped = shipped;
    this.s3 = s3;
    this.bucket = openBucket(
      BUCKET,
      settingsFor(s3.url, { caPath: s3.caPath, credentials: { given } }),
    );
    this.pods = pods;
    this.backups = new BackupObjects(kube, namespace);
    this.#accounts = new ServiceAccounts(kube, plane, (error) => pods.errors.push(error));
    this.#clock = clock;
  }

  static async start(clock: Clock = systemClock): Promise<BackupPlace> {
    const shipped = await startShipped();
    const { plane, kube } = shipped;
    const controllers = ['job-controller', 'garbage-collector-controller'];
    await addControllerManager(plane, { controllers });
    const s3 = await startS3(plane);
    const program = await bundleProgram('etcd-backup', join(plane.dir, 'dist'));
    const etcdutl = await resolvePart('etcdutl');
    const programs = { '/app/etcd-backup.mjs': program, '/usr/local/bin/etcdutl': etcdutl };
    const pods = new JobPods(kube, join(plane.dir, 'pods'), { programs });
    pods.start();
    const place = new BackupPlace(shipped, s3, pods, clock);
    await place.backups.makeNamespace();
    const data = { 'root.pem': await readFile(s3.caPath, 'utf8') };
    await place.backups.make('configmaps', 'ConfigMap', 's3-ca', { data });
    const rights = etcdBackupRights(namespace).map((object) => ({
      file: 'npm run rights',
      object,
    }));
    await applyObjects(kube, rights);
    await place.startFunction();
    return place;
  }

  /** The keys of the S3, in a Secret. */
  makeKeys(name: string): Promise<void> {
    const stringData = {
      AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
    };
    return this.backups.make('secrets', 'Secret', name, { stringData });
  }

  /** Another instance, when the one of before was stopped. */
  async startFunction(): Promise<void> {
    const account = { namespace: 'ballast-system', name: 'etcd-backup' };
    const environment = {
      PORT: '0',
      LOG_LEVEL: 'silent',
      DRAIN_MINIMUM_SECONDS: '0',
      ETCD_BACKUP_IMAGE: IMAGE,
      KUBECONFIG: await this.#accounts.kubeconfigFor('function/etcd-backup', account),
    };
    const build = { version: '0.0.0', commit: '' };
    this.#function = await startFunction(etcdBackup, { environment, build, clock: this.#clock });
  }

  async stopFunction(): Promise<void> {
    await this.#function?.stop();
  }

  /** A sweep; true when the function has taken it. */
  async sweep(): Promise<boolean> {
    if (this.#function === undefined) throw new Error('The function is not started.');
    const { status } = await sendEvent(this.#function.port, 'dev.knative.sources.ping', {});
    return status === 204;
  }

  async stop(): Promise<void> {
    await this.stopFunction();
    this.#accounts.close();
    await this.pods.stop();
    await this.bucket.close();
    await this.shipped.stop();
  }
}
