// The API server takes some EtcdClusters and refuses others, in the words of the definition; and
// kubectl scales one, and shows the age of its backup.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { specsOnPlane } from '../../lanes/specs-on-plane.ts';

const run = promisify(execFile);
const { created, create, edit } = specsOnPlane(ETCD_CLUSTERS, 'EtcdCluster', 'etcd');

const storage = (fields: object) => ({ storage: fields });
const clients = (fields: object) => ({ tls: { clients: fields } });
const peers = (fields: object) => ({ tls: { peers: fields } });
const compaction = (mode: string, retention?: string) => ({
  compaction: { mode, ...(retention === undefined ? {} : { retention }) },
});
const limits = (fields: object) => ({ resources: { limits: fields } });
const auth = (fields: object) => ({ auth: fields });
const ROLE = { name: 'app', permissions: [{ prefix: '/app/', access: 'Read' }] };
const users = (...all: object[]) =>
  auth({ roles: [ROLE], users: all.map((one) => ({ name: 'app', roles: ['app'], ...one })) });
const roles = (...all: object[]) => auth({ roles: all.map((one) => ({ ...ROLE, ...one })) });
const memory = (size: string, quota: string, limit: string) => ({
  ...storage({ medium: 'Memory', size }),
  ...limits({ memory: limit }),
  quota,
});
const requests = (fields: object) => ({ resources: { requests: fields } });

test('one with nothing said is three members with certificates', async () => {
  const name = await create({});
  const found = await created(name);
  expect(found?.['spec']).toEqual({
    replicas: 3,
    image: 'quay.io/coreos/etcd:v3.6.16',
    storage: { medium: 'Volume', size: '10Gi' },
    tls: { clients: { mode: 'Mutual' }, peers: { mode: 'Mutual' } },
    quota: '2Gi',
    compaction: { mode: 'Periodic', retention: '1h' },
    heartbeatMilliseconds: 100,
    electionMilliseconds: 1_000,
    snapshotCount: 10_000,
    resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '2Gi' } },
    spread: 'Preferred',
    networkPolicy: 'Open',
    defragmentation: { mode: 'Automatic' },
    paused: false,
  });
});

test.each<[object, string]>([
  [memory('4Gi', '2Gi', '8Gi'), 'room for the quota twice and for 512Mi of logs'],
  [memory('5Gi', '2Gi', '5Gi'), '256Mi more than storage.size at least'],
  [{ ...memory('1Gi', '256Mi', '2Gi'), replicas: 0 }, 'Members in memory cannot hibernate'],
])('%j is refused in memory: %s', async (spec, why) => {
  await expect(create(spec)).rejects.toThrow(why);
  const name = await create(memory('1Gi', '256Mi', '1280Mi'));
  expect((await created(name))?.['spec']).toMatchObject({ storage: { medium: 'Memory' } });
});

test.each<[object, string]>([
  [{ replicas: 4 }, 'choose 1, 3, 5, 7 or 9, or 0 to hibernate'],
  [{ replicas: -1 }, 'greater than or equal to 0'],
  [{ replicas: 11 }, 'less than or equal to 9'],
  [{ image: 'quay.io/coreos/etcd' }, 'Name a version'],
  [{ image: 'quay.io/coreos/etcd:latest' }, 'Name a version'],
  [{ image: 'quay.io/coreos/etcd:v3.5.25' }, 'Write 3.5.26 or later'],
  [{ image: 'quay.io/coreos/etcd:v3.4.40' }, 'Write 3.5.26 or later'],
  [{ image: `quay.io/coreos/etcd@sha256:${'0'.repeat(64)}` }, 'A digest alone does not tell'],
  [storage({ size: 'ten' }), 'Write a size as Kubernetes does'],
  [storage({ size: '1Mi' }), '128Mi at least'],
  [storage({ size: '2Ti' }), 'write 1Ti at most'],
  [storage({ medium: 'Disk' }), 'supported values: "Volume", "Memory"'],
  [storage({ medium: 'Memory', storageClassName: 'fast' }), 'Memory has no storage class'],
  [storage({ medium: 'Memory', accessMode: 'ReadWriteOnce' }), 'Memory has no access mode'],
  [storage({ accessMode: 'ReadWriteMany' }), 'supported values: "ReadWriteOncePod"'],
  [clients({ mode: 'None', secretName: 'mine' }), 'Without TLS there is no certificate'],
  [peers({ mode: 'None', secretName: 'mine' }), 'Without TLS there is no certificate'],
  [peers({ mode: 'Server' }), 'supported values: "Mutual", "None"'],
  [{ quota: 'ten' }, 'Write a size as Kubernetes does, such as 2Gi'],
  [{ quota: '1Mi' }, '16Mi at least'],
  [{ quota: '128Gi', storage: { size: '1Ti' } }, 'write 64Gi at most'],
  [{ quota: '6Gi' }, 'The storage has to hold the quota twice'],
  [storage({ size: '3Gi' }), 'The storage has to hold the quota twice'],
  [compaction('None', '1h'), 'None has no use for one'],
  [compaction('Periodic'), 'Periodic and Revision need a retention'],
  [compaction('Revision'), 'Periodic and Revision need a retention'],
  [compaction('Periodic', '10000'), 'Write minutes or hours'],
  [compaction('Periodic', '0h'), 'Write minutes or hours'],
  [compaction('Revision', '8h'), 'Write a number of revisions'],
  [compaction('Daily', '8h'), 'supported values: "Periodic", "Revision", "None"'],
  [{ heartbeatMilliseconds: 500 }, 'five times the heartbeat at least'],
  [{ electionMilliseconds: 400 }, 'five times the heartbeat at least'],
  [{ electionMilliseconds: 60_000 }, 'less than or equal to 50000'],
  [{ snapshotCount: 10 }, 'greater than or equal to 100'],
  [limits({ memory: 'much' }), 'Write memory as Kubernetes does'],
  [limits({ memory: '1Pi' }), 'No node has that much memory'],
  [requests({ cpu: '0' }), 'Write cores as Kubernetes does'],
  [requests({ cpu: '1M' }), 'No node has that many cores'],
  [{ spread: 'Always' }, 'supported values: "Preferred", "Required"'],
  [{ recovery: {} }, 'spec.recovery.confirm: Required value'],
  [{ recovery: { confirm: 'yes' } }, 'Write the id of the plan'],
  [{ recovery: { confirm: 'main-0-0123456789ab' } }, 'is not the id of a plan of this EtcdCluster'],
  [{ defragmentation: { window: '1:00-5:00' } }, 'Write two times of the day in UTC'],
  [{ defragmentation: { window: '23:00-24:00' } }, 'Write two times of the day in UTC'],
  [{ defragmentation: { mode: 'Always' } }, 'supported values: "Automatic", "None"'],
  [{ networkPolicy: 'Ajar' }, 'supported values: "Open", "Closed", "None"'],
])('%j is refused with a sentence', async (spec, why) => {
  await expect(create(spec)).rejects.toThrow(why);
});

test.each<[object, string]>([
  [auth({ users: [] }), 'should have at least 1 items'],
  [auth({ roles: [] }), 'should have at least 1 items'],
  [users({}, {}), 'Duplicate value'],
  [users({ name: 'root' }), 'another name than root'],
  [users({ name: 'a b', passwordSecret: { name: 'mine' } }), 'Use letters, digits'],
  [
    users({ name: 'App' }),
    "Without passwordSecret the user's name is part of the name of a Secret",
  ],
  [users({ roles: [] }), 'should have at least 1 items'],
  [users({ roles: ['root'] }), 'a role that stands not in roles'],
  [users({ login: 'Certificate' }), 'Nobody has a certificate with a common name'],
  [
    {
      ...users({ login: 'Certificate', passwordSecret: { name: 'mine' } }),
      ...clients({ secretName: 'mine' }),
    },
    'Who logs in by a certificate has no password',
  ],
  [users({ passwordSecret: {} }), 'passwordSecret.name: Required value'],
  [roles({}, {}), 'Duplicate value'],
  [roles({ name: 'root' }), 'another name than root'],
  [roles({ permissions: [] }), 'should have at least 1 items'],
  [roles({ permissions: [{ prefix: '/app/' }] }), 'access: Required value'],
  [roles({ permissions: [{ access: 'Read' }] }), 'prefix: Required value'],
  [roles({ permissions: [...ROLE.permissions, ...ROLE.permissions] }), 'Duplicate value'],
  [roles({ permissions: [{ prefix: '/app/', access: 'All' }] }), 'supported values: "Read"'],
  [{ ...auth({}), ...clients({ mode: 'None' }) }, 'Passwords need TLS'],
])('%j is refused, for nobody could log in so', async (spec, why) => {
  await expect(create(spec)).rejects.toThrow(why);
});

test.each(['etcd.example', '0etcd', `e${'x'.repeat(40)}`])(
  'the name %s, which no Service can have, is refused',
  async (name) => {
    await expect(create({}, name)).rejects.toThrow('The name becomes the name of Services');
  },
);

test.each<[object, object, string]>([
  [storage({ size: '20Gi' }), storage({ size: '10Gi' }), 'Storage does not shrink'],
  [{}, storage({ medium: 'Memory' }), 'Data does not move between volumes and memory'],
  [{}, storage({ storageClassName: 'fast' }), 'keeps its storage class for life'],
  [
    storage({ storageClassName: 'fast' }),
    storage({ storageClassName: null }),
    'keeps its storage class for life',
  ],
  [{}, storage({ accessMode: 'ReadWriteOnce' }), 'keeps its access mode for life'],
  [
    storage({ accessMode: 'ReadWriteOnce' }),
    storage({ accessMode: 'ReadWriteOncePod' }),
    'keeps its access mode for life',
  ],
  [{}, clients({ mode: 'None' }), 'TLS is not turned on or off'],
  [peers({ mode: 'None' }), peers({ mode: 'Mutual' }), 'TLS is not turned on or off'],
])(
  'an edit that cannot be rolled out is refused: %j does not become %j',
  async (before, after, why) => {
    const name = await create(before);
    await expect(edit(name, after)).rejects.toThrow(why);
  },
);

test.each<[object, object]>([
  [{}, { replicas: 0 }],
  [{}, { replicas: 5 }],
  [{}, storage({ size: '20Gi' })],
  [{}, { quota: '5Gi' }],
  [{}, { defragmentation: { window: '23:00-05:00' } }],
  [{}, compaction('Revision', '10000')],
  [{}, { compaction: { mode: 'None', retention: null } }],
  [{}, clients({ secretName: 'mine' })],
  [{}, { image: `quay.io/coreos/etcd:v3.6.17@sha256:${'0'.repeat(64)}` }],
  [{}, auth({})],
  [{}, users({})],
  [users({}), { auth: null }],
  [{}, users({ name: 'App', passwordSecret: { name: 'mine' } })],
  [clients({ secretName: 'mine' }), users({ name: 'system:app', login: 'Certificate' })],
  [{}, roles({ permissions: [{ prefix: '', access: 'ReadWrite' }] })],
  [{}, { image: 'registry.k8s.io/etcd:3.6.17-0' }],
  [{}, { heartbeatMilliseconds: 200, electionMilliseconds: 2_000 }],
])('%j becomes %j', async (before, after) => {
  const name = await create(before);
  expect((await edit(name, after)).metadata.generation).toBe(2);
});

test('it gets the id of a plan of its own, and loses it again', async () => {
  const name = await create({});
  await edit(name, { recovery: { confirm: `${name}-0-0123456789ab` } });
  expect((await edit(name, { recovery: null })).metadata.generation).toBe(3);
});

test('kubectl scales it, and is refused an even number with the reason', async () => {
  const name = await create({});
  const kubectl = await resolvePart('kubectl');
  const scale = (replicas: number) =>
    run(kubectl, [
      `--kubeconfig=${sharedPlane().kubeconfigPath}`,
      'scale',
      `etcd/${name}`,
      `--replicas=${replicas}`,
    ]);
  await scale(5);
  const scaled = await created(name);
  expect(scaled?.['spec']).toMatchObject({ replicas: 5 });
  await expect(scale(4)).rejects.toThrow('choose 1, 3, 5, 7 or 9');
});

test('kubectl shows the age of its newest good backup, or nothing', async () => {
  const [name, other] = [await create({}), await create({})];
  const kubectl = async (...args: readonly string[]): Promise<string> => {
    const all = [`--kubeconfig=${sharedPlane().kubeconfigPath}`, ...args];
    return (await run(await resolvePart('kubectl'), all)).stdout;
  };
  const backup = {
    name: 'daily-202601020304',
    schedule: 'daily',
    location: 's3://backups/x.db',
    revision: '6',
    takenAt: new Date(Date.now() - 7.5 * 3_600_000).toISOString(),
    isHashConfirmed: true,
  };
  const body = JSON.stringify({ status: { backup } });
  await kubectl('patch', `etcd/${name}`, '--subresource=status', '--type=merge', '-p', body);
  const [header = '', ...rows] = (await kubectl('get', 'etcd', name, other)).split('\n');
  const start = header.indexOf('BACKUP');
  const shown = rows.map((row) => row.slice(start, header.indexOf('PLAN')).trim());
  expect([start > header.indexOf('DATABASE'), shown]).toEqual([true, ['7h30m', '', '']]);
});
