// The API server takes some EtcdBackups and refuses others, in the words of the definition.
import { expect, test } from 'vitest';
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import { specsOnPlane } from '../../lanes/specs-on-plane.ts';

const S3 = { bucket: 'backups', credentials: { secretName: 's3' } };
const LEAST = { source: { etcdCluster: { name: 'main' } }, target: { s3: S3 } };
const passwordSecret = { name: 'root', key: 'password' };

const { create, created, edit } = specsOnPlane(ETCD_BACKUPS, 'EtcdBackup', 'one');

const wanted = (changes: object): object => ({ ...LEAST, ...changes });
const specOf = async (name: string) => (await created(name))?.['spec'];

test('a source and a target are enough', async () => {
  expect(await specOf(await create(LEAST))).toEqual({
    ...LEAST,
    confirmUpTo: '2Gi',
    deadlineSeconds: 3_600,
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
  });
});

const endpoints = ['https://10.0.0.1:2379', 'https://[fd00::1]:2379', 'https://etcd.example'];
const s3 = (changes: object) => ({ target: { s3: { ...S3, ...changes } } });
const claim = (changes: object) => ({ target: { claim: { name: 'disk', ...changes } } });

test('the entry of a Secret is its key when none is named', async () => {
  const encryption = { secretName: 'backup-key' };
  expect(await specOf(await create(wanted({ encryption })))).toMatchObject({
    encryption: { ...encryption, key: 'key' },
  });
});

test('one that was encrypted stays so', async () => {
  const name = await create(wanted({ encryption: { secretName: 'backup-key' } }));
  for (const encryption of [null, { secretName: 'other' }, { key: 'other' }]) {
    await expect(edit(name, { encryption })).rejects.toThrow('A backup is taken once');
  }
});

test.each<[object]>([
  [{ source: { endpoints } }],
  [{ source: { endpoints: ['http://10.0.0.1:2379'] } }],
  [{ source: { endpoints, tls: { secretName: 'tls' }, login: { passwordSecret } } }],
  [claim({ path: 'etcd/main.db' })],
  [s3({ key: 'a b/ö$(X).db', endpoint: 'http://s3.example:9000', style: 'Host' })],
  [s3({ serverSideEncryption: 'aws:kms:arn:aws:kms:eu:1:key/2', region: 'eu-central-1' })],
  [s3({ certificateAuthority: { kind: 'ConfigMap', name: 'ca' } })],
  [s3({ credentials: { serviceAccountName: 'ballast-backup-eu' } })],
  [{ spool: { size: '10Gi' } }],
  [{ encryption: { secretName: 'backup-key', key: 'of-2026' } }],
  [{ ...claim({}), encryption: { secretName: 'backup-key' }, spool: { size: '1Gi' } }],
  [{ confirmUpTo: '0' }],
  [{ rehearsal: {} }],
  [{ ...claim({}), rehearsal: { disk: { size: '5Gi' } } }],
  [{ source: { endpoints }, rehearsal: { image: 'quay.io/coreos/etcd:v3.6.16' } }],
  [{ spool: { medium: 'Volume', size: '10Gi', storageClassName: 'fast' } }],
])('%j is taken', async (changes) => {
  expect(await specOf(await create(wanted(changes)))).toMatchObject(changes);
});

const S3_REFUSED: readonly [object, string][] = [
  [s3({ credentials: {} }), 'Name a Secret with keys or a ServiceAccount, one of the two'],
  [
    s3({ credentials: { secretName: 's3', serviceAccountName: 'ballast-backup' } }),
    'Name a Secret with keys or a ServiceAccount, one of the two',
  ],
  [s3({ credentials: { serviceAccountName: 'strong' } }), 'should match'],
  [s3({ bucket: 'B' }), 'should match'],
  [s3({ key: '/etcd.db' }), 'Write parts with a slash between them'],
  [s3({ key: 'etcd/' }), 'Write parts with a slash between them'],
  [s3({ key: 'a/../b' }), 'Write parts with a slash between them'],
  [s3({ key: 'a\nb' }), 'Leave control characters out'],
  [s3({ endpoint: 's3.example' }), 'Write a URL as https://s3.example:9000'],
  [s3({ endpoint: 'ftp://s3.example' }), 'Write a URL as https://s3.example:9000'],
  [s3({ style: 'path' }), 'supported values: "Path", "Host"'],
  [s3({ serverSideEncryption: 'aes' }), 'should match'],
];

test.each<[object, string]>([
  ...S3_REFUSED,
  [{ source: {} }, 'Name an etcdCluster of this namespace, or the endpoints of any other etcd'],
  [{ source: { etcdCluster: { name: 'main' }, endpoints } }, 'Name an etcdCluster'],
  [
    { source: { etcdCluster: { name: 'main' }, login: { passwordSecret } } },
    'The Secrets of an EtcdCluster are known; tls and login go with endpoints',
  ],
  [
    { source: { endpoints: ['http://10.0.0.1:2379'], login: { passwordSecret } } },
    'Certificates and passwords go over https:// alone',
  ],
  [
    { source: { endpoints: [...endpoints, 'http://a:1'], tls: { secretName: 'a' } } },
    'Certificates and passwords go over https:// alone',
  ],
  [{ source: { endpoints: ['10.0.0.1:2379'] } }, 'Write a URL as https://10.0.0.1:2379'],
  [{ source: { endpoints: ['https://a/b'] } }, 'Write a URL as https://10.0.0.1:2379'],
  [{ source: { endpoints: [] } }, 'at least 1 items'],
  [{ target: {} }, 'Name s3, or a claim'],
  [{ target: { s3: S3, claim: { name: 'disk' } } }, 'Name s3, or a claim'],
  [{ target: { s3: { bucket: 'backups' } } }, 'credentials: Required value'],
  [claim({ path: '../b' }), 'Write parts with a slash between them'],
  [{ ...claim({}), spool: { size: '1Gi' } }, 'A file on a claim is its own copy, unless'],
  [{ encryption: {} }, 'secretName: Required value'],
  [{ encryption: { secretName: '' } }, 'at least 1 chars'],
  [{ encryption: { secretName: 'a', key: '' } }, 'at least 1 chars'],
  [{ spool: { size: '1Gi', storageClassName: 'fast' } }, 'The disk of a node has no storage class'],
  [{ spool: { size: 'large' } }, 'Write a size as Kubernetes does, such as 2Gi, and 16Mi at least'],
  [{ spool: { size: '2Ti' } }, 'etcd does not use that much; write 1Ti at most'],
  [{ confirmUpTo: '-1' }, 'Write a size as Kubernetes does, such as 2Gi, or 0'],
  [{ confirmUpTo: 'large' }, 'Write a size as Kubernetes does, such as 2Gi, or 0'],
  [{ confirmUpTo: '2Ti' }, 'etcd does not use that much; write 1Ti at most'],
  [{ source: { endpoints }, rehearsal: {} }, 'The version of an etcd at endpoints is not known'],
  [{ rehearsal: { image: 'etcd:latest' } }, 'Name a version, such as quay.io/coreos/etcd:v3.6.16'],
  [{ rehearsal: { disk: {} } }, 'size: Required value'],
  [{ rehearsal: { disk: { size: 'large' } } }, 'Write a size as Kubernetes does, such as 5Gi'],
  [{ rehearsal: { disk: { size: '3Ti' } } }, 'etcd does not use that much; write 2Ti at most'],
  [
    { rehearsal: { disk: { size: '5Gi', storageClassName: 'fast' } } },
    'The disk of a node has no storage class',
  ],
  [{ deadlineSeconds: 10 }, 'greater than or equal to 30'],
  [{ resources: { limits: { memory: 'much' } } }, 'Write memory as Kubernetes does'],
])('%j is refused', async (changes, why) => {
  await expect(create(wanted(changes))).rejects.toThrow(why);
});

test.each(['a'.repeat(64), 'with.dot'])('the name %s is refused', async (name) => {
  await expect(create(LEAST, name)).rejects.toThrow(
    'The name becomes a label and part of the name',
  );
});

test.each<[object]>([
  [{ source: { etcdCluster: { name: 'other' } } }],
  [{ target: { s3: { key: 'other.db' } } }],
  [{ deadlineSeconds: 60 }],
  [{ spool: { size: '1Gi' } }],
  [{ encryption: { secretName: 'backup-key' } }],
  [{ rehearsal: {} }],
])('it does not get %j afterwards', async (spec) => {
  const name = await create(LEAST);
  await expect(edit(name, spec)).rejects.toThrow(
    'A backup is taken once, as it was asked for; create another',
  );
});
