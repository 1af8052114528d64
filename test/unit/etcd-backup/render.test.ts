// The Job of a backup: what its program is told, in the words that the program knows, and what its
// pod is given.
import { expect, test } from 'vitest';
import { commandOptions } from '../../../functions/etcd-backup/options.ts';
import { locationOf } from '../../../functions/etcd-backup/object.ts';
import { argumentsOf } from '../../../functions/etcd-backup/render/arguments.ts';
import { jobManifest } from '../../../functions/etcd-backup/render/job.ts';
import { isRehearsal, rehearsalOptions } from '../../../functions/etcd-backup/rehearsal/options.ts';
import { isRemoval } from '../../../functions/etcd-backup/remove/options.ts';
import { type Facts, textOfFacts } from '../../../functions/etcd-backup/facts.ts';
import { markOf } from '../../../functions/etcd-backup/mark.ts';
import type { Source } from '../../../functions/etcd-backup/state.ts';
import type { EtcdBackupSpec } from '../../../shared/api/etcd-backup.ts';
import type { CheckOptions } from '../../../shared/backups/check.ts';
import { backup, FACTS, JOB_NAME, LOCATION, SECRET, UID } from './samples.ts';

const URL = 'https://main.shop.svc:2379';
const PLAIN: Source = { endpoints: [URL] };
const S3 = { bucket: 'backups', credentials: { secretName: 's3' } };
const WHOLE_S3 = {
  ...S3,
  key: 'etcd/$(AWS_SECRET_ACCESS_KEY) ö.db',
  endpoint: 'https://s3.example:9000',
  region: 'eu-central-1',
  style: 'Path',
  certificateAuthority: { kind: 'ConfigMap', name: 'ca', key: 'root.pem' },
  serverSideEncryption: 'aws:kms:mine',
} as const;

interface Pod {
  readonly volumes: readonly object[];
  readonly containers: readonly [
    {
      readonly args: readonly string[];
      readonly env: readonly object[];
      readonly resources: object;
      readonly volumeMounts: readonly object[];
    },
  ];
}

function podOf(spec: Partial<EtcdBackupSpec>, source = PLAIN): Pod {
  const manifest = jobManifest(backup({ spec }), source, 'ours:1', SECRET);
  return Object(manifest['spec']).template.spec as Pod;
}

/** As the kubelet gives them to a program, for whom `$$` stands for `$`. */
const told = (spec: Partial<EtcdBackupSpec>, source = PLAIN): readonly string[] =>
  argumentsOf(backup({ spec }), source, SECRET).map((one) => one.replaceAll('$$', () => '$'));

test('its program understands all of it', async () => {
  const spec = { target: { s3: WHOLE_S3 }, spool: { medium: 'Node', size: '2Gi' } } as const;
  const args = told(spec, { endpoints: [URL], tls: { secretName: 'main-client' } });
  expect(await commandOptions(args)).toEqual({
    etcd: {
      endpoints: [URL],
      tls: {
        caPath: '/etc/ballast/tls/ca.crt',
        certPath: '/etc/ballast/tls/tls.crt',
        keyPath: '/etc/ballast/tls/tls.key',
      },
      login: undefined,
    },
    to: {
      address: {
        place: { bucket: 'backups', key: WHOLE_S3.key },
        settings: expect.objectContaining({
          endpoint: 'https://s3.example:9000/',
          region: 'eu-central-1',
          isPathStyle: true,
          caPath: '/etc/ballast/s3/ca.crt',
          encryption: 'aws:kms:mine',
        }),
      },
      spoolDir: '/spool',
      spoolBytes: 2 * 2 ** 30,
    },
    confirmUpToBytes: 2 * 2 ** 30,
    writer: SECRET,
    isNameOwn: false,
    resultPath: '/dev/termination-log',
  });
});

test('a volume of its own is as large as it says, so that nothing is told of it', () => {
  const args = told({ spool: { medium: 'Volume', size: '2Gi' } });
  expect(args.filter((one) => one.startsWith('--spool'))).toEqual(['--spool=/spool']);
});

test('a file on a claim is one in its pod, and told by the name of the claim', async () => {
  const target = { claim: { name: 'disk', path: 'etcd/main.db' } };
  expect(await commandOptions(told({ target }))).toMatchObject({
    to: { path: '/target/etcd/main.db' },
  });
  expect(locationOf(backup({ spec: { target } }))).toBe('claim://disk/etcd/main.db');
  expect(podOf({ target }).volumes).toEqual([
    { name: 'target', persistentVolumeClaim: { claimName: 'disk' } },
  ]);
  expect(podOf({ target }).containers[0].env).toEqual([]);
});

test('the name of the backup is its own when none is given', () => {
  expect([locationOf(backup()), told({}).includes('--own-name')]).toEqual([LOCATION, true]);
  const spec = { target: { claim: { name: 'disk' } } };
  expect(locationOf(backup({ spec }))).toBe(`claim://disk/now-20261125T040000Z-${UID}.db`);
});

test('no variable takes the place of words in a name', () => {
  const { args } = podOf({ target: { s3: WHOLE_S3 } }).containers[0];
  expect(args).toContain('--to=s3://backups/etcd/$$(AWS_SECRET_ACCESS_KEY) ö.db');
});

test('Secrets are mounted by their names, and keys of S3 are variables', () => {
  const passwordSecret = { name: 'main-root', key: 'secret' };
  const login = { user: '-root', passwordSecret };
  const source = { endpoints: [URL], tls: { secretName: 'main-client' }, login };
  const { volumes, containers } = podOf({ target: { s3: WHOLE_S3 } }, source);
  expect(volumes).toEqual([
    { name: 'tls', secret: { secretName: 'main-client' } },
    {
      name: 'login',
      secret: { secretName: 'main-root', items: [{ key: 'secret', path: 'password' }] },
    },
    { name: 'authority', configMap: { name: 'ca', items: [{ key: 'root.pem', path: 'ca.crt' }] } },
    { name: 'spool', emptyDir: {} },
  ]);
  const [{ env, args, volumeMounts }] = containers;
  const given = ['--user=-root', '--password-file=/etc/ballast/login/password'];
  expect(args).toEqual(expect.arrayContaining(given));
  expect(env.map((one) => Object(one).valueFrom.secretKeyRef)).toEqual([
    { name: 's3', key: 'AWS_ACCESS_KEY_ID' },
    { name: 's3', key: 'AWS_SECRET_ACCESS_KEY' },
    { name: 's3', key: 'AWS_SESSION_TOKEN', optional: true },
  ]);
  const spool = { name: 'spool', mountPath: '/spool', readOnly: false };
  expect(volumeMounts.filter((one) => !Object(one).readOnly)).toEqual([spool]);
});

const encryption = { secretName: 'backup-key', key: 'of-2026' };
const KEY_ARGUMENT = '--encrypt-key-file=/etc/ballast/encryption/key';
const KEY_VOLUME = {
  name: 'encryption',
  secret: { secretName: 'backup-key', items: [{ key: 'of-2026', path: 'key' }] },
};

test('a key is one entry of a Secret, a file in its pod, and told by its place', async () => {
  const spec = { target: { s3: S3 }, encryption };
  expect(await commandOptions(told(spec))).toMatchObject({
    sealing: { keyPath: '/etc/ballast/encryption/key', spoolDir: '/spool' },
  });
  const { volumes, containers } = podOf(spec);
  expect(volumes).toEqual([KEY_VOLUME, { name: 'spool', emptyDir: {} }]);
  expect(containers[0].volumeMounts).toContainEqual({
    name: 'encryption',
    mountPath: '/etc/ballast/encryption',
    readOnly: true,
  });
  expect(told({ target: { s3: S3 } }).join(' ')).not.toContain('encrypt');
});

test('what is encrypted onto a claim has a copy that is not elsewhere', async () => {
  const spec = {
    target: { claim: { name: 'disk', path: 'etcd/main.db' } },
    encryption,
    spool: { medium: 'Node', size: '2Gi' },
  } as const;
  expect(told(spec)).toContain(KEY_ARGUMENT);
  expect(await commandOptions(told(spec))).toMatchObject({
    to: { path: '/target/etcd/main.db' },
    sealing: { spoolDir: '/spool', spoolBytes: 2 * 2 ** 30 },
  });
  expect(podOf(spec).volumes).toEqual([
    KEY_VOLUME,
    { name: 'spool', emptyDir: { sizeLimit: '2Gi' } },
    { name: 'target', persistentVolumeClaim: { claimName: 'disk' } },
  ]);
});

test.each<[EtcdBackupSpec['spool'], object, object]>([
  [
    { medium: 'Node', size: '2Gi' },
    { emptyDir: { sizeLimit: '2Gi' } },
    { 'ephemeral-storage': '2Gi' },
  ],
  [
    { medium: 'Volume', size: '2Gi', storageClassName: 'fast' },
    {
      ephemeral: {
        volumeClaimTemplate: {
          spec: {
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '2Gi' } },
            storageClassName: 'fast',
          },
        },
      },
    },
    {},
  ],
])('the spool %j', (spool, volume, requests) => {
  const { volumes, containers } = podOf({ ...(spool && { spool }), resources: {} });
  expect(volumes).toEqual([{ name: 'spool', ...volume }]);
  expect(containers[0].resources).toEqual({ requests });
});

test('the name of a Job has its uid, and is a name whatever the name of the backup', () => {
  const longest = backup({ name: 'a'.repeat(63) });
  const { name } = jobManifest(longest, PLAIN, 'ours:1', SECRET).metadata;
  expect([name, name.length]).toEqual([`${'a'.repeat(26)}-${UID}`, 63]);
});

test('it is tried again but where that is in vain, within a deadline, by one pod at a time', () => {
  const { metadata, spec } = jobManifest(backup(), PLAIN, 'ours:1', SECRET) as unknown as {
    readonly metadata: object;
    readonly spec: object;
  };
  expect(metadata).toMatchObject({
    name: JOB_NAME,
    labels: { 'ballast.dev/etcd-backup': 'now' },
    ownerReferences: [{ kind: 'EtcdBackup', name: 'now', uid: UID, controller: true }],
  });
  expect(spec).toMatchObject({
    backoffLimit: 3,
    activeDeadlineSeconds: 3_600,
    podReplacementPolicy: 'Failed',
    podFailurePolicy: {
      rules: [
        { action: 'FailJob', onExitCodes: { containerName: 'backup', values: [2] } },
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
      ],
    },
    template: {
      metadata: { labels: { 'ballast.dev/etcd-backup': 'now' } },
      spec: {
        automountServiceAccountToken: false,
        restartPolicy: 'Never',
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            image: 'ours:1',
            command: ['/usr/bin/node', '/app/etcd-backup.mjs'],
            securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
          },
        ],
      },
    },
  });
});

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: readonly object[];
  readonly resources: object;
  readonly volumeMounts: readonly { readonly name: string; readonly readOnly: boolean }[];
}

interface RehearsedPod {
  readonly initContainers: readonly [Container, Container, Container];
  readonly containers: readonly [Container];
  readonly volumes: readonly object[];
}

const OF_CLUSTER: Source = {
  endpoints: [URL],
  tls: { secretName: 'main-client' },
  etcd: { image: 'quay.io/coreos/etcd:v3.6.16', quota: '2Gi' },
};

function rehearsedPod(spec: Partial<EtcdBackupSpec>, source = OF_CLUSTER): RehearsedPod {
  const manifest = jobManifest(backup({ spec }), source, 'ours:1', SECRET);
  return Object(manifest['spec']).template.spec as RehearsedPod;
}

const mountsOf = ({ volumeMounts }: Container): readonly string[] =>
  volumeMounts.map(({ name, readOnly }) => `${name}${readOnly ? '' : ' (written)'}`);

test('a rehearsal is three parts more, which have what they need and nothing of the etcd', () => {
  const pod = rehearsedPod({ target: { s3: WHOLE_S3 }, rehearsal: {} });
  const [taking, check, restore] = pod.initContainers;
  const [confirm] = pod.containers;
  const all = [taking, check, restore, confirm];
  expect(all.map(({ name, image }) => `${name} ${image}`)).toEqual([
    'backup ours:1',
    'check ours:1',
    'restore quay.io/coreos/etcd:v3.6.16',
    'confirm ours:1',
  ]);
  expect(all.map(mountsOf)).toEqual([
    ['tls', 'authority', 'spool (written)'],
    ['rehearsal (written)', 'authority'],
    ['rehearsal (written)'],
    ['rehearsal (written)'],
  ]);
  expect(all.map(({ env = [] }) => env.length)).toEqual([3, 3, 0, 0]);
  expect(all.slice(1).flatMap(({ args }) => args.filter((one) => one.includes(URL)))).toEqual([]);
});

test('a claim is written by the part that takes the backup alone', () => {
  const target = { claim: { name: 'disk', path: 'etcd/main.db' } };
  const { initContainers, volumes } = rehearsedPod({ target, rehearsal: {} });
  expect(initContainers.slice(0, 2).map(mountsOf)).toEqual([
    ['tls', 'target (written)'],
    ['rehearsal (written)', 'target'],
  ]);
  expect(volumes).toContainEqual({ name: 'target', persistentVolumeClaim: { claimName: 'disk' } });
});

const TWICE = 2 * 2 * 2 ** 30 + 2 ** 28;

test('the key of a sealed backup goes to the part that reads it back, and to no other', () => {
  const pod = rehearsedPod({ rehearsal: {}, encryption });
  const parts = [...pod.initContainers, ...pod.containers];
  const having = parts.filter(({ args }) => args.includes(KEY_ARGUMENT));
  expect(having.map(({ name }) => name)).toEqual(['backup', 'check']);
  expect(parts.filter((one) => mountsOf(one).includes('encryption'))).toEqual(having);
});

test.each<[string, NonNullable<EtcdBackupSpec['rehearsal']>, Source, object, string | undefined]>([
  ['as the quota', {}, OF_CLUSTER, { emptyDir: { sizeLimit: `${TWICE}` } }, `${TWICE}`],
  ['unbounded', { image: 'e:v3.6.16' }, PLAIN, { emptyDir: {} }, undefined],
  [
    'as it says',
    { disk: { medium: 'Node', size: '5Gi' } },
    OF_CLUSTER,
    { emptyDir: { sizeLimit: '5Gi' } },
    `${5 * 2 ** 30}`,
  ],
  [
    'of a volume',
    { disk: { medium: 'Volume', size: '5Gi' } },
    OF_CLUSTER,
    {
      ephemeral: {
        volumeClaimTemplate: {
          spec: {
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '5Gi' } },
          },
        },
      },
    },
    undefined,
  ],
])('its disk is %s', (_, rehearsal, source, volume, roomBytes) => {
  const { volumes, initContainers } = rehearsedPod({ rehearsal }, source);
  expect(volumes).toContainEqual({ name: 'rehearsal', ...volume });
  const given = initContainers[1].args.find((one) => one.startsWith('--room-bytes='));
  expect(given).toBe(roomBytes && `--room-bytes=${roomBytes}`);
  expect(Object(initContainers[1].resources).requests['ephemeral-storage']).toBe(
    rehearsal.disk?.medium === 'Node' ? '5Gi' : undefined,
  );
});

test('its programs understand all of it, and only facts of its own attempts are believed', () => {
  const pod = rehearsedPod({ target: { s3: WHOLE_S3 }, rehearsal: {} });
  const [check, confirm] = [pod.initContainers[1], pod.containers[0]].map(({ args }) => {
    const words = args.map((one) => one.replaceAll('$$', () => '$'));
    expect([isRehearsal(words), isRemoval(words)]).toEqual([true, false]);
    return rehearsalOptions(words);
  });
  const place = { bucket: 'backups', key: WHOLE_S3.key };
  expect(check).toMatchObject({
    check: {
      from: { address: { place } },
      dir: '/rehearsal',
      wanted: { version: '3.6.16', roomBytes: TWICE },
    },
    resultPath: '/dev/termination-log',
  });
  expect(confirm).toEqual({
    confirm: { dir: '/rehearsal', name: `s3://backups/${WHOLE_S3.key}` },
    resultPath: '/dev/termination-log',
  });
  const { isOfWriter = () => true } = (check as { check: CheckOptions }).check.wanted;
  const facts: Facts = { kind: 'etcd-backup/v1', ...FACTS };
  expect(isOfWriter(textOfFacts(facts, markOf(SECRET)).toString())).toBe(true);
  expect(isOfWriter(textOfFacts(facts, markOf('known-to-somebody')).toString())).toBe(false);
});

test('etcdutl restores what the first part has brought to where the last one reads', () => {
  const { initContainers, containers } = rehearsedPod({ rehearsal: {} });
  expect(initContainers[2]).toMatchObject({
    command: ['/usr/local/bin/etcdutl'],
    args: ['snapshot', 'restore', '/rehearsal/restore/backup.db', '--data-dir=/rehearsal/data'],
    terminationMessagePolicy: 'FallbackToLogsOnError',
  });
  expect(containers[0].args).toContain('--dir=/rehearsal');
});

test('what no attempt can do better ends it, in each part', () => {
  const manifest = jobManifest(backup({ spec: { rehearsal: {} } }), OF_CLUSTER, 'ours:1', SECRET);
  const { rules } = Object(manifest['spec']).podFailurePolicy as { rules: readonly object[] };
  const ends = rules.map((rule) => {
    const { containerName, values = [] } = Object(Object(rule).onExitCodes);
    return `${containerName} ${values}`;
  });
  expect(ends).toEqual(['backup 2', 'check 2,3', 'confirm 2,3', 'undefined ']);
});
