// The API server takes some EtcdBackupSchedules and refuses others, in the words of the definition;
// and an EtcdBackup of a schedule has no name of its own choice.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import { ETCD_BACKUP_SCHEDULES } from '../../../shared/api/etcd-backup-schedule.ts';
import { specsOnPlane } from '../../lanes/specs-on-plane.ts';

const S3 = { bucket: 'backups', credentials: { secretName: 's3' } };
const TEMPLATE = { source: { etcdCluster: { name: 'main' } }, target: { s3: S3 } };
const LEAST = { schedule: '0 4 * * *', template: TEMPLATE };
const SCHEDULED = { schedule: 'main', uid: 's1', at: '2026-11-25T04:00:00Z' };

const { create, created, edit } = specsOnPlane(
  ETCD_BACKUP_SCHEDULES,
  'EtcdBackupSchedule',
  'schedule',
);
const backups = specsOnPlane(ETCD_BACKUPS, 'EtcdBackup', 'scheduled');

const wanted = (changes: object): object => ({ ...LEAST, ...changes });
const specOf = async (name: string) => (await created(name))?.['spec'];
const template = (changes: object) => ({ template: { ...TEMPLATE, ...changes } });

test('a schedule and a template are enough', async () => {
  expect(await specOf(await create(LEAST))).toEqual({
    schedule: '0 4 * * *',
    timeZone: 'UTC',
    suspend: false,
    concurrencyPolicy: 'Forbid',
    failedHistory: 3,
    template: {
      ...TEMPLATE,
      confirmUpTo: '2Gi',
      deadlineSeconds: 3_600,
      resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    },
  });
});

test.each<[object]>([
  [{ schedule: '*/15 0-23/2 1,15 JAN-MAR MON-FRI' }],
  [{ schedule: '59 23 31 12 7' }],
  [{ timeZone: 'America/Argentina/Buenos_Aires' }],
  [{ timeZone: 'Etc/GMT+12' }],
  [{ retention: { count: 7 }, failedHistory: 0, maxAgeSeconds: 3_600 }],
  [{ retention: { ageSeconds: 86_400 }, startingDeadlineSeconds: 60, suspend: true }],
  [{ retention: { exponential: { hours: 24, days: 7, weeks: 4 } }, concurrencyPolicy: 'Allow' }],
  [template({ target: { claim: { name: 'disk' } } })],
  [template({ encryption: { secretName: 'backup-key', key: 'key' } })],
  [{ rehearsal: { every: 1 } }],
  [{ rehearsal: { every: 1_000, image: 'quay.io/coreos/etcd:v3.6.16', disk: { size: '5Gi' } } }],
])('%j is taken', async (changes) => {
  expect(await specOf(await create(wanted(changes)))).toMatchObject(changes);
});

test.each<[object, string]>([
  [{ schedule: '0 4 * *  ' }, 'Write five fields with one space between them'],
  [{ schedule: '0 0 4 * * *' }, 'Write five fields with one space between them'],
  [{ schedule: '0  4 * * *' }, 'Write five fields with one space between them'],
  [{ schedule: 'TZ=UTC 0 4 * * *' }, 'Write five fields with one space between them'],
  [{ schedule: '60 4 * * *' }, 'The first field is the minutes'],
  [{ schedule: '0 24 * * *' }, 'The second field is the hours'],
  [{ schedule: '0 4 0 * *' }, 'The third field is the days of the month'],
  [{ schedule: '0 4 L * *' }, 'The third field is the days of the month'],
  [{ schedule: '0 4 * 13 *' }, 'The fourth field is the months'],
  [{ schedule: '0 4 * * 1#2' }, 'The fifth field is the days of the week'],
  [{ timeZone: 'Europe/Atlantis' }, 'spec.timeZone'],
  [{ timeZone: '+02:00' }, 'should match'],
  [{ concurrencyPolicy: 'Replace' }, 'supported values: "Forbid", "Allow"'],
  [{ retention: {} }, 'Name count, ageSeconds or exponential'],
  [{ retention: { count: 1, ageSeconds: 86_400 } }, 'Name count, ageSeconds or exponential'],
  [{ retention: { count: 0 } }, 'greater than or equal to 1'],
  [
    template({ target: { s3: { ...S3, key: 'a.db' } } }),
    'Two backups would have one name; leave the key out',
  ],
  [
    template({ target: { claim: { name: 'disk', path: 'a.db' } } }),
    'Two backups would have one name; leave the path out',
  ],
  [template({ target: { claim: { name: 'disk' } }, spool: { size: '1Gi' } }), 'leave spool out'],
  [{ rehearsal: {} }, 'every: Required value'],
  [{ rehearsal: { every: 0 } }, 'greater than or equal to 1'],
  [{ rehearsal: { every: 1_001 } }, 'less than or equal to 1000'],
  [
    { ...template({ source: { endpoints: ['http://a:1'] } }), rehearsal: { every: 7 } },
    'The version of an etcd at endpoints is not known; name an image',
  ],
  [template({ source: {} }), 'Name an etcdCluster of this namespace'],
])('%j is refused', async (changes, why) => {
  await expect(create(wanted(changes))).rejects.toThrow(why);
});

test('a schedule may be changed', async () => {
  const name = await create(LEAST);
  await edit(name, { schedule: '0 5 * * *', suspend: true });
  expect(await specOf(name)).toMatchObject({ schedule: '0 5 * * *', suspend: true });
});

test.each(['a'.repeat(51), 'with.dot'])('the name %s is refused', async (name) => {
  await expect(create(LEAST, name)).rejects.toThrow('The name becomes a label and part of');
});

test('an EtcdBackup of a schedule names no object of its own', async () => {
  await backups.create({ ...TEMPLATE, scheduled: SCHEDULED });
  for (const target of [{ s3: { ...S3, key: 'a.db' } }, { claim: { name: 'a', path: 'a.db' } }]) {
    await expect(backups.create({ ...TEMPLATE, target, scheduled: SCHEDULED })).rejects.toThrow(
      'The backups of a schedule have names of their own',
    );
  }
});

test('each n-th of its backups is rehearsed, and not each by its template', async () => {
  const name = await create(wanted({ rehearsal: { every: 7 }, ...template({ rehearsal: {} }) }));
  expect(await specOf(name)).not.toHaveProperty('template.rehearsal');
});

interface Schema {
  readonly properties: Readonly<Record<string, Schema>>;
}

test('the template is the spec of an EtcdBackup', () => {
  const specIn = (file: string): Schema => {
    const path = join(import.meta.dirname, '../../../knative/crds', file);
    const crd = parse(readFileSync(path, 'utf8')) as {
      spec: { versions: [{ schema: { openAPIV3Schema: Schema } }] };
    };
    const { spec } = crd.spec.versions[0].schema.openAPIV3Schema.properties;
    if (spec === undefined) throw new Error(`${file} has no spec`);
    return spec;
  };
  const { scheduled, rehearsal, ...fields } = specIn('etcd-backup.yaml').properties;
  expect(scheduled).toBeDefined();
  const { template: found, rehearsal: often } = specIn('etcd-backup-schedule.yaml').properties;
  expect(found?.properties).toEqual(fields);
  const { every, ...how } = often?.properties ?? {};
  expect(every).toBeDefined();
  expect(how).toEqual(rehearsal?.properties);
});
