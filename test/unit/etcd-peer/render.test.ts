// The flags and the pod that are rendered of a peer's spec, and which changes need another pod.
import { expect, test } from 'vitest';
import { bootstrapFlags, flagsOf } from '../../../functions/etcd-peer/render/flags.ts';
import { podSpec } from '../../../functions/etcd-peer/render/pod.ts';
import { render } from '../../../functions/etcd-peer/render/stateful-set.ts';
import type { EtcdPeerSpec } from '../../../shared/api/etcd-peer.ts';
import { placementOf } from '../../../shared/stateful/pod-spec.ts';
import { peer, SPEC } from './samples.ts';

type Spec = Partial<EtcdPeerSpec>;
const all = (spec: Spec = {}) => [
  ...flagsOf(peer({ spec })),
  ...bootstrapFlags(peer({ spec }), false),
];
const NONE = { mode: 'None' } as const;
const MUTUAL = { mode: 'Mutual' } as const;

test('a member has these flags', () => {
  expect(all()).toEqual([
    '--name=main-1',
    '--data-dir=/var/lib/etcd/data',
    '--listen-client-urls=https://0.0.0.0:2379',
    '--advertise-client-urls=https://main-1-0.main-headless.shop.svc:2379',
    '--listen-peer-urls=https://0.0.0.0:2380',
    '--initial-advertise-peer-urls=https://main-1-0.main-headless.shop.svc:2380',
    '--listen-metrics-urls=http://0.0.0.0:2381',
    '--quota-backend-bytes=2147483648',
    '--auto-compaction-mode=periodic',
    '--auto-compaction-retention=1h',
    '--feature-gates=CompactHashCheck=true',
    '--max-learners=8',
    '--heartbeat-interval=100',
    '--election-timeout=1000',
    '--snapshot-count=10000',
    '--cert-file=/etc/etcd/tls/clients.crt',
    '--key-file=/etc/etcd/tls/clients.key',
    '--trusted-ca-file=/etc/etcd/tls/clients-ca.crt',
    '--client-cert-auth=true',
    '--peer-cert-file=/etc/etcd/tls/peers.crt',
    '--peer-key-file=/etc/etcd/tls/peers.key',
    '--peer-trusted-ca-file=/etc/etcd/tls/peers-ca.crt',
    '--peer-client-cert-auth=true',
    '--peer-skip-client-san-verification=true',
    '--initial-cluster=main-1=https://main-1-0.main-headless.shop.svc:2380',
    '--initial-cluster-state=new',
    '--initial-cluster-token=c1',
  ]);
});

test.each<[Spec, string[], string[]]>([
  [
    { tls: { clients: NONE, peers: MUTUAL } },
    ['--listen-client-urls=http://0.0.0.0:2379', '--listen-peer-urls=https://0.0.0.0:2380'],
    ['--cert-file', '--client-cert-auth', '--trusted-ca-file', '--key-file'],
  ],
  [
    { tls: { clients: MUTUAL, peers: NONE } },
    ['--listen-client-urls=https://0.0.0.0:2379', '--listen-peer-urls=http://0.0.0.0:2380'],
    ['--peer-cert-file', '--peer-client-cert-auth', '--peer-trusted-ca-file', '--peer-key-file'],
  ],
  [
    { compaction: { mode: 'Revision', retention: '10000' } },
    ['--auto-compaction-mode=revision', '--auto-compaction-retention=10000'],
    [],
  ],
  [{ compaction: { mode: 'None' } }, [], ['--auto-compaction-mode', '--auto-compaction-retention']],
  [{ quota: '0.5Gi' }, ['--quota-backend-bytes=536870912'], []],
  [
    { bootstrap: { ...SPEC.bootstrap, state: 'Existing' } },
    ['--initial-cluster-state=existing'],
    [],
  ],
  [
    {
      bootstrap: {
        state: 'Existing',
        token: 'c2',
        initialCluster: [
          { name: 'main-0', url: 'http://a:2380' },
          { name: 'main-1', url: 'http://b:2380' },
        ],
      },
    },
    ['--initial-cluster=main-0=http://a:2380,main-1=http://b:2380', '--initial-cluster-token=c2'],
    [],
  ],
])('%j has %j and nothing of %j', (spec, present, absent) => {
  expect(all(spec)).toEqual(expect.arrayContaining(present));
  const names = all(spec).map((flag) => flag.split('=')[0]);
  expect(names.filter((name) => absent.includes(name ?? ''))).toEqual([]);
});

test.each<[Spec, string[]]>([
  [{ tls: { clients: NONE, peers: NONE } }, []],
  [
    { image: 'quay.io/coreos/etcd:v3.5.35' },
    ['--experimental-peer-skip-client-san-verification=true'],
  ],
  [
    { image: `registry.example:3.5/etcd:3.7.3@sha256:${'0'.repeat(64)}` },
    ['--peer-skip-client-san-verification=true'],
  ],
])('%j looks for no address in certificates of members by %j', (spec, flags) => {
  expect(all(spec).filter((flag) => flag.includes('skip-client-san'))).toEqual(flags);
});

/** From the help of the servers, of the versions that this function is held against. */
const NOT_IN: Readonly<Record<string, readonly RegExp[]>> = {
  '3.5': [/^--log-format/, /^--feature-gates/, /^--bootstrap-/, /^--corrupt-/, /^--peer-skip-/],
  '3.6': [/^--proxy/, /^--enable-v2/],
  '3.7': [/^--experimental-/, /^--proxy/, /^--enable-v2/, /^--discovery=/],
};

test.each(Object.entries(NOT_IN))('etcd %s takes each flag', (version, absent) => {
  const image = `registry.k8s.io/etcd:${version}.35-0@sha256:${'0'.repeat(64)}`;
  const flags = [...all({ image }), ...all({ image, tls: { clients: NONE, peers: NONE } })];
  expect(flags.filter((flag) => /compact-?hash-?check/i.test(flag))).toHaveLength(2);
  expect(flags.filter((flag) => absent.some((one) => one.test(flag)))).toEqual([]);
});

test('one that is forced to go on alone is reached by no client, in a pod of its own', () => {
  const flags = (force: boolean) => all({ recovery: { number: 1, force } });
  expect(flags(true).filter((flag) => !all().includes(flag))).toEqual([
    '--listen-client-urls=https://127.0.0.1:2379',
    '--force-new-cluster=true',
  ]);
  expect(flags(false)).toEqual(all());
  const hash = (spec: Spec) => render(peer({ spec }), { isBorn: true }).templateHash;
  expect(hash({ recovery: { number: 1, force: true } })).not.toBe(hash({}));
  expect(hash({ recovery: { number: 1, force: false } })).toBe(hash({}));
});

test('once a claim holds the data of a cluster, no other one is started in its place', () => {
  const first = render(peer(), { isBorn: false });
  const later = render(peer(), { isBorn: true });
  expect(argsOf(first)).toContain('--initial-cluster-state=new');
  expect(argsOf(later)).toContain('--initial-cluster-state=existing');
  // With data a member does not read it, so it is no reason for a restart.
  expect(later.templateHash).toBe(first.templateHash);
});

function argsOf({ manifest }: ReturnType<typeof render>): readonly string[] {
  const { template } = manifest['spec'] as {
    readonly template: { readonly spec: ReturnType<typeof podSpec> };
  };
  return template.spec.containers[0]?.args ?? [];
}

const { templateHash } = render(peer(), { isBorn: false });

test.each<[string, Spec]>([
  ['an image', { image: 'quay.io/coreos/etcd:v3.6.17' }],
  ['resources', { resources: { limits: { memory: '2Gi' } } }],
  ['a quota', { quota: '4Gi' }],
  ['a compaction', { compaction: { mode: 'Periodic', retention: '2h' } }],
  ['a heartbeat', { heartbeatMilliseconds: 200 }],
  ['an election', { electionMilliseconds: 2_000 }],
  ['a snapshot count', { snapshotCount: 20_000 }],
  ['an authority', { certificatesHash: 'h2' }],
  ['spread', { spread: 'Required' }],
])('another %s needs another pod', (_, spec) => {
  expect(render(peer({ spec }), { isBorn: false }).templateHash).not.toBe(templateHash);
});

test.each<[string, Spec]>([
  ['a size', { storage: { medium: 'Volume', size: '20Gi' } }],
  ['hibernation', { running: false }],
])('%s needs no other pod', (_, spec) => {
  expect(render(peer({ spec }), { isBorn: false }).templateHash).toBe(templateHash);
});

test.each([
  [true, 1],
  [false, 0],
])('with running %s it has %i pods', (running, replicas) => {
  const { manifest } = render(peer({ spec: { running } }), { isBorn: false });
  expect(manifest['spec']).toMatchObject({ replicas, updateStrategy: { type: 'OnDelete' } });
});

test('a member on a volume has its claim and the certificates of its cluster', () => {
  expect(podSpec(peer(), false).volumes).toEqual([
    { name: 'data', persistentVolumeClaim: { claimName: 'data-main-1' } },
    { name: 'tls', secret: { secretName: 'main-tls' } },
  ]);
});

test('a member in memory has so much of it, and without TLS no certificates', () => {
  const spec: Spec = {
    storage: { medium: 'Memory', size: '1Gi' },
    tls: { clients: NONE, peers: NONE },
  };
  const { volumes, containers } = podSpec(peer({ spec }), false);
  expect(volumes).toEqual([{ name: 'data', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } }]);
  expect(containers[0]?.volumeMounts).toEqual([{ name: 'data', mountPath: '/var/lib/etcd' }]);
});

test.each(['Preferred', 'Required'] as const)(
  'with spread %s the members of one cluster, and no others, keep apart',
  (spread) => {
    const pod = podSpec(peer({ spec: { spread } }), false);
    expect(pod).toMatchObject(placementOf({ 'ballast.dev/etcd-cluster': 'main' }, spread));
  },
);

test('no probe that can kill asks for more than the member itself', () => {
  const [container] = podSpec(peer(), false).containers;
  const { startupProbe, livenessProbe, readinessProbe } = container ?? {};
  expect([startupProbe?.httpGet.path, livenessProbe?.httpGet.path]).toEqual(['/livez', '/livez']);
  expect(readinessProbe?.httpGet.path).toBe('/readyz');
  const secondsOf = (probe: typeof startupProbe): number =>
    (probe?.periodSeconds ?? 0) * (probe?.failureThreshold ?? 0);
  expect([secondsOf(startupProbe), secondsOf(livenessProbe)]).toEqual([3_600, 900]);
  // Every change of members waits for one that starts.
  expect(startupProbe?.periodSeconds).toBe(1);
});

test.each([
  [1_000, 28],
  [50_000, 175],
])('with elections of %i ms a member has %i s to end', (electionMilliseconds, seconds) => {
  const { terminationGracePeriodSeconds } = podSpec(
    peer({ spec: { electionMilliseconds } }),
    false,
  );
  expect(terminationGracePeriodSeconds).toBe(seconds);
});

test.each([
  [{ limits: { memory: '1Gi' } }, [{ name: 'GOMEMLIMIT', value: '858993459' }]],
  [{}, undefined],
])('of %j the garbage collector knows %j', (resources, env) => {
  const [container] = podSpec(peer({ spec: { resources } }), false).containers;
  // Without one, the field is not there at all.
  expect(Object.entries(container ?? {}).find(([name]) => name === 'env')?.[1]).toEqual(env);
});

const inMemory = (state: 'New' | 'Existing'): Spec => ({
  storage: { medium: 'Memory', size: '512Mi' },
  bootstrap: { ...SPEC.bootstrap, state, start: 'main-1.3e9' },
});

test.each<['New' | 'Existing', string[]]>([
  ['New', [`--initial-cluster=main-1=${SPEC.bootstrap.initialCluster[0]?.url ?? ''}`]],
  ['Existing', ['--initial-cluster-state=existing']],
])('one in memory that is %s reads at each start how it starts without data', (state, told) => {
  const spec = podSpec(peer({ spec: inMemory(state) }), false);
  const [container] = spec.containers;
  const variable = state === 'New' ? '--initial-cluster-state' : '--initial-cluster';
  expect(container?.args).toEqual(expect.arrayContaining([`${variable}=$(START)`, ...told]));
  const secretKeyRef = { name: 'main-starts', key: 'main-1.3e9' };
  expect(container?.env).toContainEqual({ name: 'START', valueFrom: { secretKeyRef } });
  expect(spec.volumes).toContainEqual({
    name: 'data',
    emptyDir: { medium: 'Memory', sizeLimit: '512Mi' },
  });
});

test.each<'New' | 'Existing'>(['New', 'Existing'])(
  'one on a volume that is %s is told the same before and after its birth',
  (how) => {
    const bootstrap = { ...SPEC.bootstrap, state: how, start: 'main-1.3e9' };
    const args = [false, true].map(
      (isBorn) => podSpec(peer({ spec: { bootstrap } }), isBorn).containers[0]?.args,
    );
    expect(args[0]).toEqual(args[1]);
    expect(args[0]?.filter((one) => one.includes('$(START)'))).toHaveLength(1);
  },
);

test('a 3.5 has no flag for many learners', () => {
  const of = (image: string) => podSpec(peer({ spec: { image } }), false).containers[0]?.args;
  expect(of('quay.io/coreos/etcd:v3.5.35')).not.toContain('--max-learners=8');
  expect(of('quay.io/coreos/etcd:v3.7.3')).toContain('--max-learners=8');
});

test('what is stored in memory is not for the heap of etcd', () => {
  const limitOf = (spec: Spec) =>
    podSpec(peer({ spec }), false).containers[0]?.env?.find(({ name }) => name === 'GOMEMLIMIT');
  expect(limitOf({})).toEqual({ name: 'GOMEMLIMIT', value: String(Math.floor(2 ** 30 * 0.8)) });
  const value = String(Math.floor((2 ** 30 - 512 * 2 ** 20) * 0.8));
  expect(limitOf(inMemory('New'))).toEqual({ name: 'GOMEMLIMIT', value });
});
