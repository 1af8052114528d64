// The account of etcd-backup in the wrong hands, as far as schedules go: it removes what an
// EtcdBackup of a schedule has stored, and makes and deletes no EtcdBackup of anybody else.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EtcdBackup, etcdBackupOf } from '../../../functions/etcd-backup/object.ts';
import { jobManifest } from '../../../functions/etcd-backup/render/job.ts';
import { scheduleOf } from '../../../functions/etcd-backup/schedule/object.ts';
import { backupManifest } from '../../../functions/etcd-backup/schedule/render/backup.ts';
import { removalManifest } from '../../../functions/etcd-backup/schedule/render/removal.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { etcdBackupRights } from '../../../knative/tools/rights/etcd-backup.ts';
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import { ETCD_BACKUP_SCHEDULES } from '../../../shared/api/etcd-backup-schedule.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { until } from '../../builders/versioned-kind.ts';
import { type Outcome, StolenAccount } from './accounts-at-work.ts';
import { Installed } from './installed.ts';

const namespace = 'default';
const JOBS = `/apis/batch/v1/namespaces/${namespace}/jobs`;
const BACKUPS = `/apis/ballast.dev/v1alpha1/namespaces/${namespace}/etcdbackups`;
const IMAGE = 'dev.local/ballast/etcd-backup:0.1.0';
const KNOWN = { sha256: 'a'.repeat(64), sizeBytes: 100 };
const AT_MS = Date.parse('2026-11-25T04:00:00Z');
const TEMPLATE = {
  source: { endpoints: ['http://127.0.0.1:2379'] },
  target: { s3: { bucket: 'backups', credentials: { secretName: 's3' } } },
};

let installed: Installed;
let stolen: StolenAccount;
let run: Manifest;
let made: EtcdBackup;

beforeAll(async () => {
  installed = await Installed.open();
  const { kube, plane } = installed;
  const rights = etcdBackupRights(namespace).map((object) => ({ file: 'npm run rights', object }));
  await applyObjects(kube, rights);
  const apiVersion = 'ballast.dev/v1alpha1';
  const { object } = await kube.create(ETCD_BACKUP_SCHEDULES, {
    apiVersion,
    kind: 'EtcdBackupSchedule',
    metadata: { namespace, name: 'daily' },
    spec: { schedule: '0 4 * * *', template: TEMPLATE, suspend: true },
  });
  run = backupManifest(scheduleOf(object), AT_MS, false);
  made = etcdBackupOf((await kube.create(ETCD_BACKUPS, run)).object);
  const metadata = { namespace, name: 'mine' };
  await kube.create(ETCD_BACKUPS, { apiVersion, kind: 'EtcdBackup', metadata, spec: TEMPLATE });
  stolen = await StolenAccount.of(plane, kube, 'etcd-backup');
  // Rights and policies hold a moment after they were made.
  const isRefused = async (path: string, body: object): Promise<boolean> =>
    (await post(path, body)).status === 422;
  await until(
    'the policies to hold',
    async () =>
      (await isRefused(JOBS, named(removalManifest(made, KNOWN, IMAGE), 'other'))) &&
      (await isRefused(BACKUPS, named(run, 'other'))),
  );
});

afterAll(async () => {
  await installed?.stop();
});

const post = (path: string, body: object): Promise<Outcome> => stolen.dryRun('POST', path, body);

const named = (manifest: Manifest, name: string): Manifest => ({
  ...manifest,
  metadata: { ...manifest.metadata, name },
});

/** The Job as its function makes it, with other arguments or labels. */
function removal(change: (args: readonly string[]) => readonly string[], labels?: object): object {
  const job = structuredClone(removalManifest(made, KNOWN, IMAGE)) as unknown as {
    metadata: { labels: object };
    spec: { template: { spec: { containers: [{ args: readonly string[] }] } } };
  };
  const [container] = job.spec.template.spec.containers;
  container.args = change(container.args);
  job.metadata.labels = labels ?? job.metadata.labels;
  return job;
}

test('it makes the Job that removes what was stored, in S3 and on a claim', async () => {
  expect(await post(JOBS, removalManifest(made, KNOWN, IMAGE))).toMatchObject({ status: 201 });
  const target = { claim: { name: 'disk' } };
  const onClaim = { ...made, spec: { ...made.spec, target } };
  expect(await post(JOBS, removalManifest(onClaim, KNOWN, IMAGE))).toMatchObject({ status: 201 });
});

test('it removes nothing else', async () => {
  const { uid } = made;
  const other = uid.replace(/^../, 'ff');
  const swapped = (arg: string): string => arg.replace(`${uid}.db`, `${other}.db`);
  const tries: readonly (readonly [string, object])[] = [
    ['what another EtcdBackup stored', removal((args) => args.map(swapped))],
    [
      'what has a name of its own',
      removal(([, ...args]) => ['--remove=s3://backups/a.db', ...args]),
    ],
    ['two at once', removal((args) => [...args, '--remove=s3://backups/a.db'])],
    ['the same in two words', removal((args) => [...args, '--remove', 's3://backups/a.db'])],
    ['nothing', removal(([, ...args]) => args)],
    ['and takes one', removal((args) => [...args, '--etcd=http://a:1'])],
    ['of no schedule', removal((args) => args, { 'ballast.dev/etcd-backup': made.name })],
  ];
  for (const [what, body] of tries) {
    const { status, text } = await post(JOBS, body);
    const why = expect.stringContaining('removes that of its EtcdBackup');
    expect([what, status, text]).toEqual([what, 422, why]);
  }
});

test('a Job that takes a backup removes none', async () => {
  const job = structuredClone(
    jobManifest(made, { endpoints: ['http://a:1'] }, IMAGE, 'secret'),
  ) as unknown as {
    spec: { template: { spec: { containers: [{ args: string[] }] } } };
  };
  job.spec.template.spec.containers[0].args.push(`--remove=s3://backups/x-${made.uid}.db`);
  const { status, text } = await post(JOBS, job);
  expect([status, text]).toEqual([422, expect.stringContaining('removes none')]);
});

test('it makes EtcdBackups of schedules, and no others', async () => {
  expect(await post(BACKUPS, named(run, 'daily-202611250401'))).toMatchObject({ status: 201 });
  const ours = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'b' };
  const metadata = (changes: object) => ({
    ...run,
    metadata: { ...run.metadata, name: 'daily-202611250401', ...changes },
  });
  const tries: readonly (readonly [string, object, string])[] = [
    ['of nobody', { ...metadata({}), spec: TEMPLATE }, 'of schedules alone'],
    ['of another name', metadata({ name: 'other-202611250401' }), 'its name and its minute'],
    ['of no minute', metadata({ name: 'daily-now' }), 'its name and its minute'],
    ['without the label', metadata({ labels: {} }), 'its name and its minute'],
    ['with an owner', metadata({ ownerReferences: [ours] }), 'no owner'],
    ['that never go', metadata({ finalizers: ['example.com/a'] }), 'no owner'],
  ];
  for (const [what, body, why] of tries) {
    const { status, text } = await post(BACKUPS, body);
    expect([what, status, text]).toEqual([what, 422, expect.stringContaining(why)]);
  }
});

test('it deletes those of schedules alone, and changes none', async () => {
  const mine = await stolen.try({ method: 'DELETE', path: `${BACKUPS}/mine` });
  expect([mine.status, mine.text]).toEqual([422, expect.stringContaining('of schedules alone')]);
  const body = { metadata: { labels: { a: 'b' } } };
  const patched = await stolen.try({ method: 'PATCH', path: `${BACKUPS}/${made.name}`, body });
  expect(patched.status).toBe(403);
  const all = await stolen.try({ method: 'DELETE', path: BACKUPS });
  expect(all.status).toBe(403);
  const own = await stolen.try({ method: 'DELETE', path: `${BACKUPS}/${made.name}` });
  expect(own.status).toBe(200);
  expect(await installed.kube.get(ETCD_BACKUPS, { namespace, name: 'mine' })).not.toBeNull();
});
