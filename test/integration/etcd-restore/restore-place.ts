// A place for restores: EtcdClusters on real etcds, a real S3, the function with the rights of its
// own account, and pods of its Jobs whose containers are our program and etcdutl.
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { etcdRestore } from '../../../functions/etcd-restore/index.ts';
import { etcdRestoreRights } from '../../../knative/tools/rights/etcd-restore.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { ETCD_RESTORES, type EtcdRestoreStatus } from '../../../shared/api/etcd-restore.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { type Bucket, openBucket } from '../../../shared/s3/bucket.ts';
import { giveTo } from '../../builders/rooted.ts';
import { settingsFor } from '../../builders/posing-s3.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { until } from '../../builders/versioned-kind.ts';
import { JobPods } from '../etcd-backup/job-pods.ts';
import { bundleProgram } from '../etcd-backup/program.ts';
import { BUCKET, KEYS, type S3Server, startS3 } from '../etcd-backup/s3-server.ts';
import { EtcdPlace } from '../etcd-cluster/etcd-place.ts';
import type { Named } from '../etcd-cluster/etcd-scene.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
/** The user that members are in their pods. */
const UID = 1_000;
const WITHIN_MS = 120_000;
const ETCDUTL = '/usr/local/bin/etcdutl';

export class RestorePlace {
  readonly etcd: EtcdPlace;
  readonly s3: S3Server;
  readonly bucket: Bucket;
  readonly pods: JobPods;
  #function: RunningFunction | undefined;

  private constructor(etcd: EtcdPlace, s3: S3Server, bucket: Bucket, pods: JobPods) {
    this.etcd = etcd;
    this.s3 = s3;
    this.bucket = bucket;
    this.pods = pods;
  }

  static async start(): Promise<RestorePlace> {
    const etcd = await EtcdPlace.start({ controllers: ['job-controller'] });
    const { plane, kube } = etcd;
    const s3 = await startS3(plane);
    const given = { ...KEYS, sessionToken: undefined };
    const bucket = openBucket(
      BUCKET,
      settingsFor(s3.url, { caPath: s3.caPath, credentials: { given } }),
    );
    const pods = new JobPods(kube, join(plane.dir, 'job-pods'), {
      label: 'ballast.dev/etcd-restore',
      programs: {
        '/app/etcd-restore.mjs': await bundleProgram('etcd-restore', join(plane.dir, 'dist')),
        [ETCDUTL]: await resolvePart('etcdutl'),
      },
      programsOf: {
        'quay.io/coreos/etcd:v3.5.35': { [ETCDUTL]: await resolvePart('etcdutl-previous') },
        'quay.io/coreos/etcd:v3.7.3': { [ETCDUTL]: await resolvePart('etcdutl-next') },
      },
      claimDir: (namespace, claim) => etcd.claimDir({ namespace, name: '' }, claim),
      between: giveToMembers,
    });
    pods.start();
    const place = new RestorePlace(etcd, s3, bucket, pods);
    await place.startFunction();
    return place;
  }

  async startFunction(): Promise<void> {
    const account = { namespace: 'ballast-system', name: 'etcd-restore' };
    const environment = {
      PORT: '0',
      LOG_LEVEL: 'silent',
      DRAIN_MINIMUM_SECONDS: '0',
      ETCD_RESTORE_IMAGE: 'dev.local/ballast/etcd-restore:0.1.0',
      KUBECONFIG: await this.etcd.kubeconfigOf(account),
    };
    this.#function = await startFunction(etcdRestore, {
      environment,
      build: { version: '0.0.0', commit: '' },
    });
  }

  async stop(): Promise<void> {
    await this.#function?.stop();
    await this.pods.stop();
    await this.bucket.close();
    await this.etcd.stop();
  }

  /** With the rights of all three functions, the keys of S3 and its authority. */
  async namespace(name: string): Promise<void> {
    await this.etcd.namespace(name);
    const { kube } = this.etcd;
    const rights = etcdRestoreRights(name);
    await applyObjects(
      kube,
      rights.map((object) => ({ file: 'npm run rights', object })),
    );
    const data = { 'root.pem': await readFile(this.s3.caPath, 'utf8') };
    const metadata = (of: string) => ({ metadata: { namespace: name, name: of } });
    const type = (kind: string) => ({ apiVersion: 'v1', kind });
    await kube.create(core('configmaps'), { ...type('ConfigMap'), ...metadata('s3-ca'), data });
    const stringData = {
      AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
    };
    await kube.create(core('secrets'), { ...type('Secret'), ...metadata('s3'), stringData });
  }

  inS3 = (key: string): object => ({
    s3: {
      bucket: BUCKET,
      key,
      endpoint: this.s3.url,
      credentials: { secretName: 's3' },
      certificateAuthority: { kind: 'ConfigMap', name: 's3-ca', key: 'root.pem' },
    },
  });

  async create({ namespace, name }: Named, spec: object): Promise<void> {
    await this.etcd.kube.create(ETCD_RESTORES, {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'EtcdRestore',
      metadata: { namespace, name },
      spec,
    });
  }

  async delete(restore: Named): Promise<void> {
    const found = await this.etcd.kube.get(ETCD_RESTORES, restore);
    const uid = found?.metadata.uid ?? '';
    await this.etcd.kube.delete(ETCD_RESTORES, restore, { uid });
  }

  async status({ namespace, name }: Named): Promise<EtcdRestoreStatus> {
    const found = await this.etcd.kube.get(ETCD_RESTORES, { namespace, name });
    return found?.['status'] ?? {};
  }

  async condition(restore: Named, type = 'Complete'): Promise<string> {
    const { conditions = [] } = await this.status(restore);
    const found = conditions.find((one) => one.type === type);
    return `${found?.status} ${found?.reason}: ${found?.message}`;
  }

  /** Swept as often as it takes. */
  async untilSays(restore: Named, form: RegExp): Promise<void> {
    let said = '';
    const what = `${restore.name} to say ${form.source}`;
    const check = async (): Promise<boolean> => {
      await this.sweep();
      said = await this.condition(restore);
      return form.test(said);
    };
    await until(what, check, WITHIN_MS).catch((cause: unknown) => {
      throw new Error(`it says ${said}; ${this.pods.errors.map(String).join('; ')}`, { cause });
    });
  }

  async sweep(): Promise<void> {
    const port = this.#function?.port ?? 0;
    await (await sendEvent(port, 'dev.knative.sources.ping', {})).text();
  }
}

/** As fsGroup does: files of the pod before are those of a member. */
export const giveToMembers = (dir: string): Promise<void> =>
  giveAllTo(UID, join(dir, 'var/lib/etcd'));

async function giveAllTo(uid: number, path: string): Promise<void> {
  const dir = await readdir(path, { withFileTypes: true, recursive: true }).catch(() => []);
  for (const { parentPath, name } of dir) {
    const at = join(parentPath, name);
    if ((await lstat(at)).uid !== uid) await giveTo(uid, at);
  }
}
