// The account of etcd-restore in the wrong hands, where it is granted its rights: it may make the
// Job, the claim and the EtcdCluster of an EtcdRestore, and touch no claim but its own.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcdRestoreOf, memberLabelsOf } from '../../../functions/etcd-restore/object.ts';
import { claimManifest } from '../../../functions/etcd-restore/render/claim.ts';
import { clusterManifest } from '../../../functions/etcd-restore/render/cluster.ts';
import { jobManifest } from '../../../functions/etcd-restore/render/job.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { etcdRestoreRights } from '../../../knative/tools/rights/etcd-restore.ts';
import { ETCD_CLUSTERS, type EtcdClusterSpec } from '../../../shared/api/etcd-cluster.ts';
import { ETCD_RESTORES } from '../../../shared/api/etcd-restore.ts';
import type { KubeObject, Manifest } from '../../../shared/kube/objects.ts';
import { CLAIMS } from '../../../shared/stateful/parts.ts';
import { until } from '../../builders/versioned-kind.ts';
import { type Outcome, StolenAccount } from './accounts-at-work.ts';
import { forgedLife } from './forged-life.ts';
import { Installed } from './installed.ts';
import { canOthersMakeJobs, loseSettings } from './lost-settings.ts';

const namespace = 'default';
const JOBS = `/apis/batch/v1/namespaces/${namespace}/jobs`;
const CLAIMS_AT = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
const CLUSTERS = `/apis/ballast.dev/v1alpha1/namespaces/${namespace}/etcdclusters`;
const JOBS_REF = { group: 'batch', version: 'v1', resource: 'jobs' } as const;
const IMAGE = 'dev.local/ballast/etcd-restore:0.1.0';

let installed: Installed;
let stolen: StolenAccount;
let made: KubeObject;
let target: EtcdClusterSpec;

beforeAll(async () => {
  installed = await Installed.open();
  const { kube, plane } = installed;
  const file = 'npm run rights';
  await applyObjects(
    kube,
    etcdRestoreRights(namespace).map((object) => ({ file, object })),
  );
  const created = await kube.create(ETCD_RESTORES, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'EtcdRestore',
    metadata: { namespace, name: 'back' },
    spec: { source: { etcdBackup: { name: 'now' } }, etcdCluster: { name: 'main', spec: {} } },
  });
  made = created.object;
  const dry = { dryRun: true };
  const stored = await kube.create(ETCD_CLUSTERS, clusterManifest(etcdRestoreOf(made), '1'), dry);
  target = stored.object['spec'] as EtcdClusterSpec;
  stolen = await StolenAccount.of(plane, kube, 'etcd-restore');
  // Rights and policies hold a moment after they were made.
  await until(
    'the policy to hold',
    async () => (await makeJob({ metadata: { name: 'other' } })).status === 422,
  );
});

afterAll(async () => {
  await installed?.stop();
});

const make = (path: string, body: object): Promise<Outcome> => stolen.dryRun('POST', path, body);

interface Changes {
  readonly metadata?: object;
  readonly spec?: object;
  readonly pod?: object;
  /** Changes of the container that runs our program first, and of that which runs etcdutl. */
  readonly check?: object;
  readonly restore?: object;
  /** Changes of that which runs our program last. */
  readonly confirm?: object;
}

const jobOf = (changes: object = {}): Manifest => {
  const s3 = { bucket: 'backups', credentials: { secretName: 's3' } };
  const from = 's3://backups/a';
  const encryption = { secretName: 'backup-key', key: 'key' };
  const backup = { from, location: from, s3, encryption, ...changes };
  return jobManifest({ restore: etcdRestoreOf(made), backup, target, image: IMAGE });
};

/** The Job as its function makes it, with something else in it. */
function makeJob({ metadata, spec, pod, check, restore, confirm }: Changes): Promise<Outcome> {
  const whole = structuredClone(jobOf()) as unknown as {
    metadata: object;
    spec: { template: { spec: { initContainers: [object, object]; containers: [object] } } };
  };
  Object.assign(whole.metadata, metadata);
  Object.assign(whole.spec.template.spec.initContainers[0], check);
  Object.assign(whole.spec.template.spec.initContainers[1], restore);
  Object.assign(whole.spec.template.spec.containers[0], confirm);
  Object.assign(whole.spec.template.spec, pod);
  Object.assign(whole.spec, spec);
  return make(JOBS, whole);
}

const claimOf = (): Manifest => claimManifest(etcdRestoreOf(made), target);
const clusterOf = (): Manifest => clusterManifest(etcdRestoreOf(made), 'cdf818194e3a8c32');

test('it makes the Job, the claim and the EtcdCluster of an EtcdRestore', async () => {
  const all = [
    await makeJob({}),
    await make(JOBS, jobOf({ s3: undefined, claimName: 'disk', encryption: undefined })),
    await make(CLAIMS_AT, claimOf()),
    await make(CLUSTERS, clusterOf()),
  ];
  expect(all.map(({ status, text }) => (status === 201 ? status : text))).toEqual([
    201, 201, 201, 201,
  ]);
});

const owner = (changes: object) => {
  const { name, uid } = made.metadata;
  const own = { apiVersion: 'ballast.dev/v1alpha1', kind: 'EtcdRestore', name, uid };
  return { ownerReferences: [{ ...own, controller: true, ...changes }] };
};
const KEY = { secretName: 'a', items: [{ key: 'key', path: 'key' }] };
const volume = (source: object) => ({
  volumes: [...['data', 'source'].map((name) => ({ name, ...source })), keyFrom(KEY)],
});
const keyFrom = (secret: object): object => ({ name: 'encryption', secret });

const KEY_MOUNT = { name: 'encryption', mountPath: '/etc/ballast/encryption', readOnly: true };
const keyVolume = (secret: object) => ({
  pod: { volumes: [{ name: 'data', secret: { secretName: 'a' } }, keyFrom(secret)] },
});

const FORGED: () => readonly (readonly [what: string, changes: Changes, why: string])[] = () => [
  // The API server lets the first two have none of that.
  ...forgedLife({}).map(([what, confirm]) => [what, { confirm }, 'kubelet'] as const),
  ['with other labels', { metadata: { labels: { a: 'b' } } }, 'does not belong to'],
  ['of another name', { metadata: { name: 'other' } }, 'does not belong to'],
  ['of another kind', { metadata: owner({ kind: 'EtcdPeer' }) }, 'does not belong to'],
  ['of another uid', { metadata: owner({ uid: 'other' }) }, 'does not belong to'],
  ['that run many', { spec: { completions: 9 } }, 'by one pod'],
  ['that never end', { spec: { activeDeadlineSeconds: null } }, 'by one pod'],
  ['with a token', { pod: { automountServiceAccountToken: true } }, 'has no account'],
  ['with an account', { pod: { serviceAccountName: 'strong' } }, 'has no account'],
  ['on the network of their node', { pod: { hostNetwork: true } }, 'shares nothing'],
  ['on a node of choice', { pod: { nodeName: 'one' } }, 'shares nothing'],
  ['with a directory of their node', { pod: volume({ hostPath: { path: '/' } }) }, 'alone'],
  [
    'with a token of another way',
    { pod: volume({ projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }) },
    'alone',
  ],
  [
    'that write into another claim',
    { pod: volume({ persistentVolumeClaim: { claimName: 'disk' } }) },
    'the claim of a first member alone',
  ],
  ['whose key is a whole Secret', keyVolume({ secretName: 'a' }), 'one entry of a Secret'],
  ['whose key may lack', keyVolume({ ...KEY, optional: true }), 'one entry of a Secret'],
  [
    'whose key etcdutl reads',
    { restore: { volumeMounts: [KEY_MOUNT] } },
    'the check alone reads it',
  ],
  ['whose key the last one reads', { confirm: { volumeMounts: [KEY_MOUNT] } }, 'the check alone'],
  [
    'whose key is written',
    { check: { volumeMounts: [{ ...KEY_MOUNT, readOnly: false }] } },
    'the check alone',
  ],
  [
    'that take another file for a key',
    { check: { args: ['check', '--encrypt-key-file=/source/key'] } },
    'the check alone',
  ],
  ['that run another program', { check: { command: ['/bin/sh'] } }, 'our program'],
  ['with an image of its own', { check: { image: 'images.example.com/a:1' } }, 'our image'],
  ['that run etcd', { restore: { command: ['/usr/local/bin/etcd'] } }, 'etcdutl'],
  ['with an etcdutl of its own', { restore: { image: 'images.example.com/a:1' } }, 'not all may'],
  ['with keys for etcdutl', { restore: { env: [{ name: 'A', value: 'b' }] } }, 'etcdutl'],
  [
    'with one more container',
    { pod: { containers: ['confirm', 'more'].map((name) => ({ name, image: IMAGE })) } },
    'our program',
  ],
  ['that load other code', { check: { env: [{ name: 'NODE_OPTIONS', value: 'x' }] } }, 'our'],
  [
    'with privileges',
    { check: { securityContext: { allowPrivilegeEscalation: true } } },
    'no privileges',
  ],
  ['as root', { pod: { securityContext: { runAsUser: 0 } } }, 'no privileges'],
];

test('it is refused all other Jobs', async () => {
  for (const [what, changes, why] of FORGED()) {
    const { status, text } = await makeJob(changes);
    expect([what, status, text]).toEqual([what, 422, expect.stringContaining(why)]);
  }
});

const withMetadata = (manifest: Manifest, metadata: object): object => ({
  ...manifest,
  metadata: { ...manifest.metadata, ...metadata },
});

test('it is refused other claims and EtcdClusters', async () => {
  const restore = etcdRestoreOf(made);
  const marked = { annotations: { 'ballast.dev/etcd-cluster-id': 'abc' } };
  const labels = { ...memberLabelsOf(restore), 'ballast.dev/etcd-restore': 'back' };
  const tries: readonly (readonly [string, object, string])[] = [
    [CLAIMS_AT, withMetadata(claimOf(), { name: 'disk' }), 'The name is none'],
    [CLAIMS_AT, withMetadata(claimOf(), { ownerReferences: [] }), 'does not belong'],
    [CLAIMS_AT, withMetadata(claimOf(), marked), 'begins empty'],
    [CLAIMS_AT, withMetadata(claimOf(), { labels }), 'begins empty'],
    [CLUSTERS, withMetadata(clusterOf(), { annotations: {} }), 'says with whose data'],
    [CLUSTERS, withMetadata(clusterOf(), { labels: {} }), 'does not belong'],
    [CLUSTERS, { ...clusterOf(), spec: { image: 'images.example.com/etcd:v3.6.16' } }, 'not all'],
  ];
  for (const [path, body, why] of tries) {
    const { status, text } = await make(path, body);
    expect([status, text]).toEqual([422, expect.stringContaining(why)]);
  }
});

test('it hands its claim over, and changes and deletes no other', async () => {
  const { kube } = installed;
  const restore = etcdRestoreOf(made);
  await kube.create(CLAIMS, claimOf());
  const member = { ...claimOf(), metadata: { namespace, name: 'data-main-1' } };
  const labels = { 'ballast.dev/etcd-cluster': 'main', 'ballast.dev/etcd-peer': 'main-1' };
  await kube.create(CLAIMS, withMetadata(member, { labels }) as Manifest);
  const own = `${CLAIMS_AT}/data-main-0?dryRun=All`;
  const foreign = `${CLAIMS_AT}/data-main-1?dryRun=All`;
  const annotations = { 'ballast.dev/etcd-cluster-id': 'abc' };
  const handed = { labels: memberLabelsOf(restore), annotations, ownerReferences: null };
  const patch = (path: string, body: object): Promise<Outcome> =>
    stolen.try({ method: 'PATCH', path, body });
  const remove = (path: string): Promise<Outcome> => stolen.try({ method: 'DELETE', path });
  const other = { ...handed, labels: { ...handed.labels, 'ballast.dev/etcd-cluster': 'other' } };
  const storage = { resources: { requests: { storage: '99Gi' } } };
  const outcomes = [
    await patch(own, { metadata: handed }),
    await patch(own, { metadata: other }),
    await patch(own, { metadata: { annotations } }),
    await patch(own, { metadata: handed, spec: storage }),
    await patch(foreign, { metadata: handed }),
    await remove(foreign),
    await remove(own),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([200, 422, 422, 422, 422, 422, 200]);
});

test('it deletes its Job, and no other', async () => {
  const { kube } = installed;
  const own = jobOf();
  const labels = { 'ballast.dev/etcd-backup': 'now' };
  const foreign = withMetadata(own, { name: 'theirs', labels }) as Manifest;
  for (const job of [own, foreign]) await kube.create(JOBS_REF, job);
  const outcomes = [foreign, own].map(async ({ metadata: { name } }) => {
    const path = `${JOBS}/${name}?dryRun=All`;
    return (await stolen.try({ method: 'DELETE', path })).status;
  });
  expect(await Promise.all(outcomes)).toEqual([422, 200]);
});

test('it reads no Secret, and changes neither Jobs nor EtcdClusters', async () => {
  const tries = [
    { method: 'GET', path: `/api/v1/namespaces/${namespace}/secrets/passwords` },
    { method: 'PATCH', path: `${CLUSTERS}/main`, body: { spec: { replicas: 0 } } },
    { method: 'DELETE', path: `${CLUSTERS}/main` },
    { method: 'PATCH', path: `${JOBS}/any`, body: { spec: { suspend: true } } },
  ] as const;
  for (const one of tries) {
    expect([one.path, (await stolen.try(one)).status]).toEqual([one.path, 403]);
  }
});

test('without the settings it makes no Job, and everybody else goes on', async () => {
  const { kube } = installed;
  await loseSettings(kube);
  const why = /ballast-etcd-restore-image.*no params found/;
  await until('it to make none', async () => why.test((await makeJob({})).text));
  expect(await canOthersMakeJobs(kube, namespace)).toBe(true);
});
