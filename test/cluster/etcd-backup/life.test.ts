// EtcdBackups of an EtcdCluster in real pods: the image that ships runs in the pods of Jobs, with
// the Secrets that the kubelet mounts, into an object storage beside it and onto a volume.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcdBackup } from '../../../functions/etcd-backup/index.ts';
import { etcdBackupRights } from '../../../knative/tools/rights/etcd-backup.ts';
import { functionArchive, imageOf } from '../../../knative/try/cluster/functions/archive.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { ETCD_BACKUPS, type EtcdBackupStatus } from '../../../shared/api/etcd-backup.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { until } from '../../builders/versioned-kind.ts';
import { SCENARIO_MS } from '../../integration/etcd-cluster/etcd-scene.ts';
import { BUCKET, KEYS } from '../../integration/etcd-backup/s3-server.ts';
import { EtcdPodPlace } from '../etcd-cluster/pod-place.ts';
import { timed } from '../support/timed.ts';
import { volumeDir } from '../support/volumes.ts';
import { startStorage, type Storage } from './storage.ts';

const namespace = 'etcd-backups';
const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
const settings = { timeout: SCENARIO_MS };

let place: EtcdPodPlace;
let ours: RunningFunction;
let storage: Storage;

beforeAll(async () => {
  place = await EtcdPodPlace.open();
  await place.namespace(namespace);
  const { signal } = new AbortController();
  await place.nodes.importImage(await functionArchive('etcd-backup', signal));
  const file = 'npm run rights';
  await applyObjects(
    place.kube,
    etcdBackupRights(namespace).map((object) => ({ file, object })),
  );
  await place.create({ namespace, name: 'etcd' }, { replicas: 1, storage: { size: '10Gi' } });
  storage = await startStorage(place, namespace);
  ours = await start();
  await place.wakeUntilReady({ namespace, name: 'etcd' });
}, SCENARIO_MS);

afterAll(async () => {
  await ours?.stop();
  await storage?.bucket.close();
  await place?.close();
}, SCENARIO_MS);

/** As the account of its manifests. */
async function start(): Promise<RunningFunction> {
  const account = { namespace: 'ballast-system', name: 'etcd-backup' };
  const environment = {
    PORT: '0',
    LOG_LEVEL: 'silent',
    DRAIN_MINIMUM_SECONDS: '0',
    ETCD_BACKUP_IMAGE: imageOf('etcd-backup'),
    KUBECONFIG: await place.kubeconfigOf(account),
  };
  return startFunction(etcdBackup, { environment, build: { version: '0.0.0', commit: '' } });
}

async function back(name: string, target: object): Promise<void> {
  await place.kube.create(ETCD_BACKUPS, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { namespace, name },
    spec: { source: { etcdCluster: { name: 'etcd' } }, target },
  });
}

const statusOf = async (name: string): Promise<EtcdBackupStatus> =>
  (await place.kube.get(ETCD_BACKUPS, { namespace, name }))?.['status'] ?? {};

/** Swept as often as it takes. */
async function untilSays(name: string, form: RegExp): Promise<void> {
  let said = '';
  const isSaid = async (): Promise<boolean> => {
    await sendEvent(ours.port, 'dev.knative.sources.ping', {});
    const { conditions = [], phase } = await statusOf(name);
    const found = conditions.find(({ type }) => type === 'Complete');
    said = `${found?.status} ${found?.reason}: ${found?.message}`;
    if (phase === 'Failed') throw new Error('it is over');
    return form.test(said);
  };
  await until(`${name} to say ${form.source}`, isSaid, SCENARIO_MS / 2).catch((cause: unknown) => {
    throw new Error(`it says ${said}`, { cause });
  });
}

test('into an object storage, as soon as the Secret with its keys is there', settings, async () => {
  const credentials = { secretName: 's3' };
  await back('stored', { s3: { bucket: BUCKET, endpoint: storage.endpoint, credentials } });
  await untilSays('stored', /^False CreateContainerError: Pod stored-\S+: .*secret "s3" not found/);
  expect(await statusOf('stored')).toMatchObject({ phase: 'Running' });
  await place.kube.create(core('secrets'), {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: 's3' },
    stringData: {
      AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
    },
  });
  await timed('Secret to Complete', () => untilSays('stored', /^True Confirmed: \d+ keys/));
  const { phase, location = '', backup } = await statusOf('stored');
  expect({ phase, version: backup?.etcdVersion }).toEqual({ phase: 'Complete', version: '3.6.16' });
  const key = location.slice(`s3://${BUCKET}/`.length);
  expect(await storage.bucket.head(key)).toMatchObject({ sizeBytes: backup?.sizeBytes });
  expect((await storage.bucket.list(`${namespace}/stored/`)).keys).toEqual([key, `${key}.json`]);
  expect(await storage.bucket.uploads('')).toEqual([]);
});

test('onto a volume', settings, async () => {
  await place.kube.create(core('persistentvolumeclaims'), {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name: 'disk' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  await back('filed', { claim: { name: 'disk', path: 'etcd.db' } });
  await timed('created to Complete', () => untilSays('filed', /^True Confirmed: \d+ keys/));
  const { location, backup } = await statusOf('filed');
  expect(location).toBe('claim://disk/etcd.db');
  const { kube, nodes } = place;
  const dir = await volumeDir({ kube, clusterDir: nodes.dir, namespace, claim: 'disk' });
  const bytes = await readFile(join(dir, 'etcd.db'));
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(backup?.sha256);
});
