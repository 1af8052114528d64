// The API server takes some EtcdRestores and refuses others, in the words of the definition.
import { expect, test } from 'vitest';
import { ETCD_RESTORES } from '../../../shared/api/etcd-restore.ts';
import { specsOnPlane } from '../../lanes/specs-on-plane.ts';

const S3 = { bucket: 'backups', key: 'etcd.db', credentials: { secretName: 's3' } };
const LEAST = { source: { etcdBackup: { name: 'now' } }, etcdCluster: { name: 'main' } };

const { create, created, edit } = specsOnPlane(ETCD_RESTORES, 'EtcdRestore', 'one');

const wanted = (changes: object): object => ({ ...LEAST, ...changes });
const specOf = async (name: string) => (await created(name))?.['spec'];

test('a source and a name are enough', async () => {
  expect(await specOf(await create(LEAST))).toEqual({
    ...LEAST,
    dryRun: false,
    deadlineSeconds: 3_600,
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
  });
});

const s3 = (changes: object) => ({ source: { s3: { ...S3, ...changes } } });
const claim = (changes: object) => ({ source: { claim: { name: 'disk', ...changes } } });
const named = (changes: object) => ({ etcdCluster: { name: 'main', ...changes } });

test.each<[object]>([
  [s3({ key: 'a b/ö$(X).db', endpoint: 'http://s3.example:9000', style: 'Host' })],
  [s3({ certificateAuthority: { kind: 'ConfigMap', name: 'ca' }, region: 'eu-central-1' })],
  [claim({ path: 'etcd/main.db' })],
  [{ source: { s3: S3, encryption: { secretName: 'backup-key', key: 'of-2026' } } }],
  [s3({ credentials: { serviceAccountName: 'ballast-backup' } })],
  [{ source: { etcdBackup: { name: 'now' }, encryption: { secretName: 'backup-key' } } }],
  [named({ spec: { replicas: 5, image: 'quay.io/coreos/etcd:v3.7.3', anything: { else: 1 } } })],
  [{ dryRun: true }],
])('%j is taken', async (changes) => {
  expect(await specOf(await create(wanted(changes)))).toMatchObject(changes);
});

test.each<[object, string]>([
  [{ source: { encryption: { secretName: 'backup-key' } } }, 'Name an etcdBackup'],
  [{ source: { s3: S3, encryption: { key: 'key' } } }, 'secretName: Required value'],
  [{ source: {} }, 'Name an etcdBackup of this namespace, or s3, or a claim'],
  [{ source: { etcdBackup: { name: 'now' }, s3: S3 } }, 'Name an etcdBackup of this namespace, or'],
  [{ source: { s3: { bucket: 'backups', key: 'a' } } }, 'credentials: Required value'],
  [{ source: { s3: { ...S3, key: undefined } } }, 'key: Required value'],
  [s3({ credentials: {} }), 'Name a Secret with keys or a ServiceAccount, one of the two'],
  [s3({ credentials: { serviceAccountName: 'strong' } }), 'should match'],
  [s3({ key: 'a/../b' }), 'Write parts with a slash between them'],
  [s3({ key: 'a\nb' }), 'Leave control characters out'],
  [s3({ endpoint: 's3.example' }), 'Write a URL as https://s3.example:9000'],
  [claim({}), 'path: Required value'],
  [claim({ path: '../b' }), 'Write parts with a slash between them'],
  [named({ name: 'Main' }), 'The name becomes the name of Services'],
  [named({ name: '0' }), 'The name becomes the name of Services'],
  [named({ name: 'a'.repeat(41) }), 'may not be more than 40'],
  [named({ spec: 'three' }), 'must be of type object'],
  [{ deadlineSeconds: 10 }, 'greater than or equal to 30'],
])('%j is refused', async (changes, why) => {
  await expect(create(wanted(changes))).rejects.toThrow(why);
});

test.each<[object]>([
  [{ source: { etcdBackup: { name: 'other' } } }],
  [{ source: { encryption: { secretName: 'backup-key' } } }],
  [named({ spec: { replicas: 1 } })],
  [{ dryRun: true }],
])('it does not get %j afterwards', async (spec) => {
  const name = await create(LEAST);
  await expect(edit(name, spec)).rejects.toThrow(
    'A restore is done once, as it was asked for; create another EtcdRestore',
  );
});
