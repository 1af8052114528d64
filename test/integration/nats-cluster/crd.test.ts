// The API server takes and refuses NatsClusters in the words of the definition; and kubectl scales
// one.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { specsOnPlane } from '../../lanes/specs-on-plane.ts';

const run = promisify(execFile);
const { created, create, edit } = specsOnPlane(NATS_CLUSTERS, 'NatsCluster', 'nats');

const files = (size: string, more: { storageClassName?: string; accessMode?: string } = {}) => ({
  jetStream: { fileStorage: { size, ...more } },
});
const mode = (accessMode: string | null) => ({ jetStream: { fileStorage: { accessMode } } });
const passwordSecret = { name: 'passwords' };
const account = (name: string) => ({
  accounts: [{ name, users: [{ name: 'shop', passwordSecret }] }],
});
const allowed = (permissions: object) => ({
  accounts: [{ name: 'SHOP', users: [{ name: 'shop', passwordSecret, permissions }] }],
});
const writer = { name: 'metadata', writes: ['f'] };
const holder = { name: 'FEEDS', feeds: ['f'], users: [writer] };
const reader = { name: 'agent', reads: { feed: 'f', scope: 'Node', node: 'n1' } };
const readers = (...users: readonly object[]) => ({ name: 'READERS', jetStream: false, users });
const feeds = (...accounts: readonly object[]) => ({ accounts });
const reading = (reads: object) =>
  feeds(holder, readers({ name: 'agent', reads: { feed: 'f', ...reads } }));
const everybody = { name: '$G', users: [{ name: 'web', passwordSecret }] };
const publish = (subject: string) => allowed({ publish: { allow: [subject] } });
const subscribe = (subject: string) => allowed({ subscribe: { deny: [subject] } });

test.each<[object, string]>([
  [{ replicas: 4 }, 'choose 1, 3, 5, 7 or 9'],
  [{ replicas: 1, extraRoutes: ['a:6222'] }, 'A single server has no routes'],
  [{ extraRoutes: ['nats://a:6222'] }, 'should match'],
  [{ clusterName: 'old nats' }, 'should match'],
  [{ extraRoutes: ['web:secret@a:6222'] }, 'should match'],
  [feeds({ ...everybody, jetStream: false }), 'The global account, $G, has JetStream'],
  [feeds({ ...everybody, feeds: ['f'] }), 'The global account, $G, has JetStream'],
  [feeds(everybody, holder), 'have it alone, or name all accounts'],
  [{ replicas: 11 }, 'less than or equal to 9'],
  [{ image: 'nats:latest' }, 'Name a version'],
  [{ image: 'registry:5000/nats' }, 'Name a version'],
  [{ image: 'nats:2-alpine' }, 'Name a version'],
  [files('900000Pi'), 'No volume is that large'],
  [{ jetStream: { memory: { size: '1Pi' } } }, 'No node has that much memory'],
  [{ resources: { limits: { memory: '1Pi' } } }, 'No node has that much memory'],
  [{ resources: { requests: { cpu: '1M' } } }, 'No node has that many cores'],
  [allowed({ publish: { allow: [] } }), 'NATS takes an empty list for everything'],
  [allowed({ subscribe: { allow: ['a'], deny: [] } }), 'NATS takes an empty list for everything'],
  [allowed({ subscribe: {} }), 'Write allow or deny'],
  [publish('a b'), 'should match'],
  [publish('a..b'), 'should match'],
  [publish('.a'), 'should match'],
  [publish('a.'), 'should match'],
  [publish('a.>.b'), 'should match'],
  [publish('orders*'), 'should match'],
  [publish('a.b>'), 'should match'],
  [publish('a\u0000b'), 'should match'],
  [publish('a\tb'), 'should match'],
  [subscribe('a b c'), 'should match'],
  // NATS takes what follows for a queue group, and denies that alone.
  [subscribe('a.>\u00a0b'), 'should match'],
  [files('ten'), 'Write a size as Kubernetes does'],
  [files('1Mi'), '16Mi at least'],
  [
    files('1Gi', { accessMode: 'ReadWriteMany' }),
    'supported values: "ReadWriteOncePod", "ReadWrite',
  ],
  [{ jetStream: {} }, 'Write either fileStorage or memory'],
  [{ jetStream: { memory: { size: '1Gi' }, fileStorage: { size: '1Gi' } } }, 'Write either'],
  [account('SYS'), 'SYS is the one by which the cluster is looked after'],
  [account('a.b'), 'letters, digits, hyphens and underscores'],
  [{ lameDuck: { graceSeconds: 40, durationSeconds: 30 } }, 'shorter than durationSeconds'],
  [{ lameDuck: { durationSeconds: 10 } }, 'greater than or equal to 30'],
  [{ resources: { limits: { memory: 'much' } } }, 'Write memory as Kubernetes does'],
  [{ monitoringPort: 4222 }, '4222 is for clients'],
])('%j is refused with a sentence', async (spec, why) => {
  await expect(create(spec)).rejects.toThrow(why);
});

test.each<[object, string]>([
  [feeds({ ...holder, users: [writer, reader] }), 'Whoever reads where a stream is can delete it'],
  [feeds(holder, { ...readers(reader), jetStream: true }), 'can delete it'],
  [
    feeds(holder, readers(reader, { name: 'other' })),
    'Whoever reads a feed is among readers alone',
  ],
  [feeds(readers(reader)), 'A user reads a feed that no account has'],
  [feeds({ ...holder, feeds: ['g'], users: [{ name: 'a' }] }, readers(reader)), 'no account has'],
  [feeds(holder, { ...holder, name: 'B', users: [{ name: 'b' }] }), 'A feed has one stream'],
  [feeds({ ...holder, jetStream: false }), 'An account holds feeds where jetStream is true'],
  [feeds({ name: 'FEEDS', users: [writer] }), 'A user writes feeds that its own account names'],
  [feeds({ ...holder, feeds: ['f.g'] }), 'should match'],
  [feeds({ ...holder, feeds: [] }), 'at least 1 items'],
  [
    feeds({ ...holder, users: [{ ...writer, permissions: { allowResponses: true } }] }),
    'Write reads, writes or permissions',
  ],
  [feeds(holder, readers({ ...reader, permissions: {} })), 'Write reads, writes or permissions'],
  [feeds(holder, readers({ ...reader, name: 'Agent' })), 'part of the name of a Secret'],
  [reading({ scope: 'Node' }), 'Scope Node wants node'],
  [reading({ scope: 'Cluster', node: 'n1' }), 'Scope Node wants node'],
  [reading({ scope: 'Namespaces', node: 'n1' }), 'Namespaces wants namespaces'],
  [reading({ scope: 'Namespaces', namespaces: [] }), 'at least 1 items'],
  [reading({ scope: 'Namespaces', namespaces: ['web.>'] }), 'should match'],
  [reading({ scope: 'Node', node: '*' }), 'should match'],
  [reading({ scope: 'All' }), 'supported values: "Cluster", "Node", "Namespaces"'],
])('feeds and readers in %j are refused with a sentence', async (spec, why) => {
  await expect(create(spec)).rejects.toThrow(why);
});

test.each([-1, 0, 10])(
  '%d servers are told the bounds, and nothing of even numbers',
  async (replicas) => {
    const refusal = await create({ replicas }).catch(String);
    expect(refusal).toContain('or equal to');
    expect(refusal).not.toContain('even number');
  },
);

test('a name that no Service can have is refused', async () => {
  await expect(create({}, 'nats.example')).rejects.toThrow('The name becomes the name of Services');
});

test.each<[object, object, string]>([
  [{ replicas: 1 }, { replicas: 3 }, 'one does not become the other'],
  [{ replicas: 3 }, { replicas: 1 }, 'one does not become the other'],
  [files('2Gi'), files('1Gi'), 'A claim does not shrink'],
  [
    files('1Gi', { storageClassName: 'fast' }),
    files('1Gi', { storageClassName: 'slow' }),
    'keeps its storage class',
  ],
  [files('1Gi'), mode('ReadWriteOnce'), 'keeps its access mode for life'],
  [
    files('1Gi', { accessMode: 'ReadWriteOnce' }),
    mode('ReadWriteOncePod'),
    'keeps its access mode',
  ],
  [files('1Gi', { accessMode: 'ReadWriteOncePod' }), mode(null), 'keeps its access mode'],
  [{}, { jetStream: { fileStorage: null, memory: { size: '1Gi' } } }, 'do not move between'],
  [{}, { clusterName: 'old' }, 'Servers refuse routes of servers that tell another name'],
  [{ clusterName: 'old' }, { clusterName: 'new' }, 'it stays as it was made'],
  [{ clusterName: 'old' }, { clusterName: null }, 'it stays as it was made'],
  [{}, { tls: { routes: {} } }, 'cannot be turned on or off while they run'],
])('%j does not become %j', async (before, after, why) => {
  const name = await create(before);
  await expect(edit(name, after)).rejects.toThrow(why);
});

test.each<[object, object]>([
  [{}, { replicas: 5 }],
  [files('1Gi'), files('2Gi')],
  [files('1Gi', { accessMode: 'ReadWriteOnce' }), files('2Gi')],
  [{}, { tls: { clients: {} } }],
  [{}, account('SHOP')],
  [{}, { image: `nats:2.15.3@sha256:${'0'.repeat(64)}` }],
  [{}, { image: 'docker.io/library/nats:v2.15.3-alpine' }],
  [{}, publish('$JS.API.*.x.>')],
  [{}, subscribe('> workers.*')],
  [feeds(holder), feeds(holder, readers(reader))],
  [{}, { ...feeds(everybody), extraRoutes: ['10.0.0.1:6222', 'old-1.old-mgmt.shop.svc:6222'] }],
  [{}, feeds(holder, readers({ ...reader, name: 'Agent', passwordSecret }))],
])('%j becomes %j', async (before, after) => {
  const name = await create(before);
  expect((await edit(name, after)).metadata.generation).toBe(2);
});

test.each([
  [31, 32],
  [4, 255],
])('as many readers as there may be are taken: %i accounts of %i', async (accounts, users) => {
  const names = (head: string, howMany: number) =>
    Array.from({ length: howMany }, (_, index) => `${head}-${index}-`.padEnd(63, 'x'));
  const all = names('feed', 8);
  const many = names('a', accounts).map((of, index) => ({
    ...readers(
      ...names(`u-${index}`, users).map((name) => ({
        name,
        reads: { feed: all[7], scope: 'Namespaces', namespaces: names('n', 1) },
      })),
    ),
    name: of,
  }));
  const name = await create(feeds(...many, { name: 'z', feeds: all, users: [{ name: 'w' }] }));
  expect((await created(name))?.metadata.name).toBe(name);
});

test('more users than one configuration bears are refused with the number', async () => {
  const users = Array.from({ length: 256 }, (_, index) => ({ name: `u-${index}` }));
  const accounts = ['a', 'b', 'c', 'd'].map((name) => ({ name, users }));
  const more = { accounts: [...accounts, { name: 'e', users: [{ name: 'one' }] }] };
  await expect(create(more)).rejects.toThrow('have 1,024 users at most');
});

test('kubectl scales it, and is refused an even number with the reason', async () => {
  const name = await create({});
  const kubectl = await resolvePart('kubectl');
  const scale = (replicas: number) =>
    run(kubectl, [
      `--kubeconfig=${sharedPlane().kubeconfigPath}`,
      'scale',
      `natscluster/${name}`,
      `--replicas=${replicas}`,
    ]);
  await scale(5);
  const scaled = await created(name);
  expect(scaled?.['spec']).toMatchObject({ replicas: 5 });
  await expect(scale(4)).rejects.toThrow('choose 1, 3, 5, 7 or 9');
});
