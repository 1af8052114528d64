// The account of etcd-backup in the wrong hands, where it is granted its rights: it may make the
// Job of an EtcdBackup, and no other.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcdBackupOf, labelsOf } from '../../../functions/etcd-backup/object.ts';
import { jobManifest } from '../../../functions/etcd-backup/render/job.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { etcdBackupRights } from '../../../knative/tools/rights/etcd-backup.ts';
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { until } from '../../builders/versioned-kind.ts';
import { type Outcome, StolenAccount } from './accounts-at-work.ts';
import { forgedLife } from './forged-life.ts';
import { Installed } from './installed.ts';
import { canOthersMakeJobs, loseSettings } from './lost-settings.ts';

const namespace = 'default';
const JOBS = `/apis/batch/v1/namespaces/${namespace}/jobs`;
const SECRET = 'known-to-attempts';
const IMAGE = 'dev.local/ballast/etcd-backup:0.1.0';
const SOURCE = {
  endpoints: ['https://main.default.svc:2379'],
  tls: { secretName: 'main-client' },
  login: { user: 'root', passwordSecret: { name: 'main-root', key: 'password' } },
};

let installed: Installed;
let stolen: StolenAccount;
let made: KubeObject;

beforeAll(async () => {
  installed = await Installed.open();
  const { kube, plane } = installed;
  const file = 'npm run rights';
  await applyObjects(
    kube,
    etcdBackupRights(namespace).map((object) => ({ file, object })),
  );
  const created = await kube.create(ETCD_BACKUPS, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { namespace, name: 'now' },
    spec: {
      source: { etcdCluster: { name: 'main' } },
      target: { s3: { bucket: 'backups', credentials: { secretName: 's3' } } },
      spool: { medium: 'Volume', size: '1Gi' },
      encryption: { secretName: 'backup-key' },
    },
  });
  made = created.object;
  stolen = await StolenAccount.of(plane, kube, 'etcd-backup');
  // Rights and policies hold a moment after they were made.
  await until(
    'the policy to hold',
    async () => (await write(changed({ metadata: { name: 'other' } }))).status === 422,
  );
});

afterAll(async () => {
  await installed?.stop();
});

const write = (body: object): Promise<Outcome> =>
  stolen.try({ method: 'POST', path: `${JOBS}?dryRun=All`, body });

interface Changes {
  readonly metadata?: object;
  readonly spec?: object;
  readonly labels?: object;
  /** Changes of the pod, and of its one container. */
  readonly pod?: object;
  readonly container?: object;
}

/** The Job as its function makes it, with something else in it. */
function changed(changes: Changes): object {
  const { metadata = {}, spec = {}, labels = {}, pod = {}, container = {} } = changes;
  // Job and pod have their labels from one object, which a structured clone would keep.
  const text = JSON.stringify(jobManifest(etcdBackupOf(made), SOURCE, IMAGE, SECRET));
  const whole = JSON.parse(text) as {
    metadata: object;
    spec: { template: { metadata: { labels: object }; spec: { containers: [object] } } };
  };
  Object.assign(whole.metadata, metadata);
  Object.assign(whole.spec.template.spec.containers[0], container);
  Object.assign(whole.spec.template.metadata.labels, labels);
  Object.assign(whole.spec.template.spec, pod);
  Object.assign(whole.spec, spec);
  return whole;
}

test('it makes the Job of an EtcdBackup, on a claim too, once', async () => {
  expect(await write(changed({}))).toMatchObject({ status: 201 });
  const pod = { serviceAccountName: 'ballast-backup-eu' };
  expect(await write(changed({ pod }))).toMatchObject({ status: 201 });
  const claimed = {
    ...made,
    spec: { ...Object(made['spec']), target: { claim: { name: 'disk' } } },
  };
  const job = jobManifest(etcdBackupOf(claimed), { endpoints: ['http://a:1'] }, IMAGE, SECRET);
  expect(await write(job)).toMatchObject({ status: 201 });
});

const volume = (source: object) => ({
  volumes: ['tls', 'login', 'encryption', 'spool'].map((name) => ({ name, ...source })),
});
const keyVolume = (secret: object) => ({
  pod: {
    volumes: [
      ...['tls', 'login', 'spool'].map((name) => ({ name, secret: { secretName: name } })),
      { name: 'encryption', ...secret },
    ],
  },
});
const keyMount = (changes: object) => ({
  container: {
    volumeMounts: [
      { name: 'encryption', mountPath: '/etc/ballast/encryption', readOnly: true, ...changes },
    ],
  },
});
const items = [{ key: 'key', path: 'key' }];
const env = (variable: object) => ({ container: { env: [variable] } });
const owner = (changes: object) => {
  const { name, uid } = made.metadata;
  const own = { apiVersion: 'ballast.dev/v1alpha1', kind: 'EtcdBackup', name, uid };
  return { ownerReferences: [{ ...own, controller: true, ...changes }] };
};

const FORGED: () => readonly (readonly [what: string, changes: Changes, why: string])[] = () => [
  ...forgedLife({}).map(([what, container]) => [what, { container }, 'kubelet'] as const),
  // Without any it would get those of its pod.
  ['with other labels', { metadata: { labels: { a: 'b' } } }, 'does not belong to'],
  ['of another name', { metadata: { name: 'other' } }, 'does not belong to'],
  ['that belong to nobody', { metadata: { ownerReferences: [] } }, 'does not belong to'],
  ['of another kind', { metadata: owner({ kind: 'EtcdPeer' }) }, 'does not belong to'],
  ['of another object', { metadata: owner({ name: 'other' }) }, 'does not belong to'],
  ['of another uid', { metadata: owner({ uid: 'other' }) }, 'does not belong to'],
  ['that run many at once', { spec: { parallelism: 9 } }, 'by one pod'],
  ['that run many', { spec: { completions: 9 } }, 'by one pod'],
  ['that never end', { spec: { activeDeadlineSeconds: null } }, 'by one pod'],
  [
    'that take other pods over',
    { spec: { manualSelector: true, selector: { matchLabels: labelsOf(etcdBackupOf(made)) } } },
    'no pods but its own',
  ],
  ['whose pod a Service sends to', { labels: { app: 'shop' } }, 'labels of a backup alone'],
  [
    'whose pod is one of another backup',
    { labels: { 'ballast.dev/etcd-backup': 'other' } },
    'labels of a backup alone',
  ],
  [
    'whose pod is named as another program',
    { labels: { 'app.kubernetes.io/name': 'shop' } },
    'labels of a backup alone',
  ],
  ['with a token', { pod: { automountServiceAccountToken: true } }, 'has no account'],
  ['with an account', { pod: { serviceAccountName: 'strong' } }, 'has no account'],
  [
    'with an account that ends as one for backups',
    { pod: { serviceAccountName: 'strong-ballast-backup' } },
    'has no account',
  ],
  [
    'with the keys of a registry',
    { pod: { imagePullSecrets: [{ name: 'passwords' }] } },
    'has no account',
  ],
  ['on the network of their node', { pod: { hostNetwork: true } }, 'shares nothing'],
  ['among the processes of their node', { pod: { hostPID: true } }, 'shares nothing'],
  ['on a node of choice', { pod: { nodeName: 'one' } }, 'shares nothing'],
  ['before others', { pod: { priorityClassName: 'system-node-critical' } }, 'shares nothing'],
  [
    'with names of choice',
    { pod: { hostAliases: [{ ip: '192.0.2.1', hostnames: ['s3.example'] }] } },
    'shares nothing',
  ],
  ['with a directory of their node', { pod: volume({ hostPath: { path: '/' } }) }, 'alone'],
  [
    'with a token of another way',
    { pod: volume({ projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }) },
    'alone',
  ],
  [
    'whose key is a whole Secret',
    keyVolume({ secret: { secretName: 'a' } }),
    'one entry of a Secret',
  ],
  [
    'whose key has two entries',
    keyVolume({ secret: { secretName: 'a', items: [...items, { key: 'b', path: 'b' }] } }),
    'one entry of a Secret',
  ],
  [
    'whose key may lack',
    keyVolume({ secret: { secretName: 'a', items, optional: true } }),
    'one entry of a Secret',
  ],
  ['whose key is no Secret', keyVolume({ emptyDir: {} }), 'one entry of a Secret'],
  ['whose key is written', keyMount({ readOnly: false }), 'only read'],
  ['whose key is elsewhere', keyMount({ mountPath: '/app' }), 'only read'],
  ['with something else in its place', keyMount({ name: 'login' }), 'only read'],
  [
    'that take another file for a key',
    { container: { args: ['--encrypt-key-file=/etc/ballast/login/password'] } },
    'only read',
  ],
  [
    'that are told of a key in two words',
    { container: { args: ['--encrypt-key-file', '/etc/ballast/login/password'] } },
    'only read',
  ],
  ['that run another program', { container: { command: ['/bin/sh'] } }, 'our program'],
  ['with an image of its own', { container: { image: 'images.example.com/a:1' } }, 'our image'],
  ['with another tag', { container: { image: `${IMAGE}0` } }, 'our image'],
  [
    'that run something before',
    { pod: { initContainers: [{ name: 'a', image: IMAGE }] } },
    'one container, or the four',
  ],
  ['that load other code', env({ name: 'NODE_OPTIONS', value: '--import=data:,a' }), 'our program'],
  [
    'with all of a Secret',
    { container: { envFrom: [{ secretRef: { name: 'passwords' } }] } },
    'our program',
  ],
  ['with a port', { container: { ports: [{ containerPort: 80, hostPort: 80 }] } }, 'our program'],
  [
    'with privileges',
    { container: { securityContext: { allowPrivilegeEscalation: true } } },
    'no privileges',
  ],
  ['as root', { pod: { securityContext: { runAsUser: 0 } } }, 'no privileges'],
];

test('it is refused all other Jobs', async () => {
  for (const [what, changes, why] of FORGED()) {
    const { status, text } = await write(changed(changes));
    expect([what, status, text]).toEqual([what, 422, expect.stringContaining(why)]);
  }
});

type Parts = readonly [object, object, object, object];

/** The Job of a rehearsal, with something else in its parts. */
function rehearsal(change: (parts: Parts) => readonly object[], more: object = {}): object {
  const spec = { ...Object(made['spec']), rehearsal: {}, ...more };
  const etcd = { image: 'quay.io/coreos/etcd:v3.6.16', quota: '2Gi' };
  const job = jobManifest(etcdBackupOf({ ...made, spec }), { ...SOURCE, etcd }, IMAGE, SECRET);
  const whole = JSON.parse(JSON.stringify(job)) as {
    spec: {
      podFailurePolicy?: object;
      template: { spec: { initContainers: object[]; containers: object[] } };
    };
  };
  // It names the parts, and would be refused first.
  delete whole.spec.podFailurePolicy;
  const pod = whole.spec.template.spec;
  const parts = change([...pod.initContainers, ...pod.containers] as unknown as Parts);
  pod.initContainers = parts.slice(0, -1);
  pod.containers = parts.slice(-1);
  return whole;
}

const changedPart = (at: number, change: object) => (parts: Parts) =>
  parts.map((part, index) => (index === at ? { ...part, ...change } : part));
const [CHECK, ETCDUTL, CONFIRM] = [1, 2, 3];

const mount = (name: string) => ({ volumeMounts: [{ name, mountPath: '/rehearsal' }] });
const onClaim = { target: { claim: { name: 'disk' } }, spool: undefined };

test('it makes the Job of a rehearsal, from a claim too', async () => {
  const disk = { rehearsal: { disk: { medium: 'Volume', size: '5Gi' } } };
  const sealed = { encryption: { secretName: 'key', key: 'key' } };
  for (const more of [{}, onClaim, disk, sealed]) {
    const { status, text } = await write(rehearsal((parts) => parts, more));
    expect([status, text]).toEqual([201, expect.any(String)]);
  }
});

const REHEARSALS: () => readonly (readonly [what: string, job: object, why: string])[] = () => [
  ['three parts', rehearsal(([a, b, c]) => [a, b, c]), 'or the four'],
  ['five parts', rehearsal((parts) => [...parts, { ...parts[3], name: 'a' }]), 'or the four'],
  ['another order', rehearsal(([a, b, c, d]) => [a, c, b, d]), 'or the four'],
  ['another program', rehearsal(changedPart(ETCDUTL, { command: ['/bin/sh'] })), 'by etcdutl'],
  [
    'another image of etcd',
    rehearsal(changedPart(ETCDUTL, { image: 'images.example.com/etcd:v3.6.16' })),
    'may run in an EtcdCluster',
  ],
  [
    'etcdutl with a variable',
    rehearsal(changedPart(ETCDUTL, { env: [{ name: 'LD_PRELOAD', value: '/rehearsal/a' }] })),
    'by etcdutl',
  ],
  ['etcdutl with the certificate', rehearsal(changedPart(ETCDUTL, mount('tls'))), 'by etcdutl'],
  [
    'etcdutl with the target',
    rehearsal(changedPart(ETCDUTL, mount('target')), onClaim),
    'by etcdutl',
  ],
  ['a sidecar', rehearsal(changedPart(CHECK, { restartPolicy: 'Always' })), 'runs nothing else'],
  ['privileges', rehearsal(changedPart(ETCDUTL, { securityContext: {} })), 'no privileges'],
  ['another image', rehearsal(changedPart(CHECK, { image: 'a.example.com/a:1' })), 'our image'],
  [
    'another file as a key',
    rehearsal(changedPart(CHECK, { args: ['check', '--encrypt-key-file=/etc/passwd'] })),
    'only read',
  ],
  ['other code', rehearsal(changedPart(CONFIRM, { command: ['/bin/sh'] })), 'our program'],
  [
    'what writes to the target',
    rehearsal(changedPart(CHECK, mount('target')), onClaim),
    'writes into a volume that goes with the pod',
  ],
  [
    'a removal',
    rehearsal(changedPart(CHECK, { args: ['check', '--remove=s3://backups/a.db'] })),
    'removes none',
  ],
];

test('a rehearsal runs nothing else, and reaches nothing else', async () => {
  for (const [what, body, why] of REHEARSALS()) {
    const { status, text } = await write(body);
    expect([what, status, text]).toEqual([what, 422, expect.stringContaining(why)]);
  }
});

test('it changes and deletes no Job, and reads no Secret', async () => {
  const { kube } = installed;
  const ref = { group: 'batch', version: 'v1', resource: 'jobs' };
  const job = jobManifest(etcdBackupOf(made), SOURCE, IMAGE, SECRET);
  await kube.create(ref, job);
  const path = `${JOBS}/${job.metadata.name}`;
  const tries = [
    { method: 'PATCH', path, body: { spec: { suspend: true } } },
    { method: 'DELETE', path },
    { method: 'GET', path: `/api/v1/namespaces/${namespace}/secrets/passwords` },
    { method: 'GET', path: `/api/v1/namespaces/${namespace}/secrets` },
    { method: 'PATCH', path: `${path}/status`, body: { status: {} } },
  ] as const;
  for (const one of tries) {
    expect([one.path, (await stolen.try(one)).status]).toEqual([one.path, 403]);
  }
});

test('without the settings it makes no Job, and everybody else goes on', async () => {
  const { kube } = installed;
  await loseSettings(kube);
  const why = /ballast-etcd-backup-image.*no params found/;
  await until('it to make none', async () => why.test((await write(changed({}))).text));
  expect(await canOthersMakeJobs(kube, namespace)).toBe(true);
});
