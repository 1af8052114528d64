// `npm run takeover` prints plans and manifests, one line where there is nothing, and says by its
// exit code whether something speaks against a plan.
import { beforeEach, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { runTakeover, USAGE } from '../../../knative/tools/takeover/command.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { LEGACY_ETCDS, TAKEOVERS } from '../../../shared/api/takeover.ts';
import { KubeError } from '../../../shared/kube/errors.ts';
import { SERVICES, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { leaveAenix } from './aenix-world.ts';
import { beginChart } from './chart-world.ts';
import { leaveImprobable } from './improbable-world.ts';
import { beginNats } from './nats-world.ts';
import { begin, namespace, putOperator, sweep, world } from './world.ts';

beforeEach(() => {
  begin();
  world.kube.remove(TAKEOVERS, { namespace, name: 'over' });
});

async function run(...args: readonly string[]) {
  const said = { out: '', err: '' };
  const terminal = {
    out: (text: string) => void (said.out += text),
    err: (text: string) => void (said.err += text),
  };
  const writes = world.kube.writes.length;
  const code = await runTakeover(args, terminal, async () =>
    Object.assign(world.kube.client, { close: async () => undefined }),
  );
  expect(world.kube.writes.length).toBe(writes);
  return { code, ...said };
}

const withDefaults = (): void => {
  const create = world.kube.create.bind(world.kube);
  // The API server fills in the quota.
  world.kube.create = async (ref, manifest, options) =>
    create(ref, { ...manifest, spec: { quota: '2Gi', ...Object(manifest['spec']) } }, options);
};

test('help is asked for', async () => {
  expect(await run('--help')).toEqual({ code: 0, out: USAGE, err: '' });
});

test.each([
  [['--all'], 'there is no option --all'],
  [['old'], 'nothing is known of "old"'],
  [['-n'], 'wants a value'],
])('%j is not understood', async (args, why) => {
  const { code, out, err } = await run(...args);
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain(why);
  expect(err).toContain(USAGE);
});

const LINE = /^Nothing of an operator that is gone is here[^\n]*\n$/;
const LINE_FIRST = /^Nothing of an operator that is gone is here[^\n]*\n./;

test('where there is nothing it says so in one line', async () => {
  world.kube.remove(LEGACY_ETCDS, { namespace, name: 'old' });
  expect(await run()).toEqual({ code: 0, out: expect.stringMatching(LINE), err: '' });
  expect(await run('-n', 'other')).toMatchObject({ code: 0, out: expect.stringMatching(LINE) });
});

test('where nobody knows the kind it says the same', async () => {
  world.kube.pages = (ref) => {
    throw new KubeError('KUBE_NOT_FOUND', 'It is not served.', { verb: 'list', ref });
  };
  expect(await run()).toEqual({ code: 0, out: expect.stringMatching(LINE), err: '' });
});

test('an API server that does not answer is told of', async () => {
  world.kube.pages = (ref) => {
    throw new KubeError('KUBE_UNAVAILABLE', 'Nobody answers.', { verb: 'list', ref });
  };
  expect(await run()).toEqual({ code: 2, out: '', err: 'Nobody answers.\n' });
});

function define(name: string, served = true): void {
  const apiVersion = 'apiextensions.k8s.io/v1';
  const spec = {
    versions: [
      { name: 'v0', served: false },
      { name: 'v1', served },
    ],
  };
  world.kube.put(CRDS, { apiVersion, kind: 'CustomResourceDefinition', metadata: { name }, spec });
}

const DELETES = /test -z "\$left" && kubectl delete crd (.*)$/gm;
const deletedBy = (out: string) => [...out.matchAll(DELETES)].map(([, names]) => names);

test('definitions go last, when nobody has objects of any of the group', async () => {
  define('etcdclusters.etcd.database.coreos.com');
  define('etcdbackups.etcd.database.coreos.com');
  define('natsclusters.nats.io');
  define('natsserviceroles.nats.io');
  define('streams.jetstream.nats.io');
  withDefaults();
  expect(deletedBy((await run()).out)).toEqual(['natsclusters.nats.io natsserviceroles.nats.io']);
  world.kube.remove(LEGACY_ETCDS, { namespace, name: 'old' });
  const ROLES = { group: 'nats.io', version: 'v1', resource: 'natsserviceroles' };
  const metadata = { namespace: 'far', name: 'web' };
  world.kube.put(ROLES, { apiVersion: 'nats.io/v1', kind: 'NatsServiceRole', metadata });
  const { code, out } = await run();
  expect(code).toBe(0);
  expect(out).toMatch(LINE_FIRST);
  expect(deletedBy(out)).toEqual([
    'etcdclusters.etcd.database.coreos.com etcdbackups.etcd.database.coreos.com',
  ]);
  expect(out).toContain(
    'Definitions of nats.io stay: objects of natsserviceroles.nats.io are left ' +
      '(kubectl get natsserviceroles.nats.io -A).',
  );
});

test('a definition that serves no version may have objects, and stays', async () => {
  define('natsclusters.nats.io', false);
  withDefaults();
  expect(deletedBy((await run()).out)).toEqual([]);
});

test('no word is said of definitions in one namespace, and of those nobody may list', async () => {
  world.kube.remove(LEGACY_ETCDS, { namespace, name: 'old' });
  define('natsclusters.nats.io');
  expect(await run('-n', namespace)).toMatchObject({ out: expect.stringMatching(LINE) });
  expect(await run('--manifests')).toMatchObject({ out: expect.stringMatching(LINE) });
  const pages = world.kube.pages.bind(world.kube);
  world.kube.pages = (ref, selection) => {
    if (ref !== CRDS) return pages(ref, selection);
    throw new KubeError('KUBE_FORBIDDEN', 'You may not.', { verb: 'list', ref });
  };
  expect(await run()).toMatchObject({ code: 0, out: expect.stringMatching(LINE) });
});

test.each([
  ['etcd.aenix.io/v1alpha1', leaveAenix],
  ['etcd.improbable.io/v1alpha1', leaveImprobable],
] as const)('one of %s is found, and has a Takeover of that', async (apiVersion, leave) => {
  leave();
  world.kube.remove(TAKEOVERS, { namespace, name: 'over' });
  withDefaults();
  const { out } = await run();
  const [group] = apiVersion.split('/');
  expect(out).toContain(`EtcdCluster shop/old of ${group}, into EtcdCluster old-2`);
  const [one, ...others] = parseAllDocuments((await run('--manifests')).out);
  expect(others).toEqual([]);
  const legacy = { apiVersion, kind: 'EtcdCluster', name: 'old' };
  expect(one?.toJS()).toMatchObject({ spec: { legacy, mode: 'Restore' } });
});

test('it prints each object and each step', async () => {
  withDefaults();
  putOperator(1);
  const { code, out } = await run();
  expect(code).toBe(0);
  expect(out).toContain('EtcdCluster shop/old of etcd.database.coreos.com, into EtcdCluster old-2');
  expect(out).toContain('There is no Takeover of it yet; --manifests prints one.');
  expect(out).toMatch(/^ACTION +KIND +NAME +WHY$/m);
  expect(out).toMatch(/^Change +Deployment +etcd-operator +The operator would fight/m);
  expect(out).toMatch(/^Keep +PersistentVolumeClaim +old-b +Loses its owner/m);
  expect(out).toMatch(/^2 FreezeWriters +stop +- +The members of old get an alarm/m);
  expect(out).toMatch(/^6 SwitchService +go on +no way back +Service old-client leads to/m);
  expect(out).toContain('- MembersUnasked: ');
  expect(out).not.toContain('Against it:');
});

test('it says what speaks against a plan', async () => {
  withDefaults();
  world.kube.remove(SERVICES, { namespace, name: 'old-client' });
  const { code, out } = await run('-n', 'shop');
  expect(code).toBe(1);
  expect(out).toMatch(/^Against it:\n- ServiceMissing: There is no Service shop\/old-client/m);
});

test('of a Takeover that is there it prints the plan of the function', async () => {
  begin();
  await sweep();
  const { code, out } = await run();
  expect(code).toBe(0);
  expect(out).toMatch(
    /Takeover shop\/over has plan over-[0-9a-f]{12}\. It is carried out once spec\.confirm is/,
  );
  expect(out).not.toContain('MembersUnasked');
  const { out: none, err } = await run('--manifests');
  expect([none, err]).toEqual(['', 'Each has its Takeover already.\n']);
});

test('a plan as it is seen from here has no id, since no member was asked', async () => {
  begin();
  const { out } = await run();
  expect(out).toContain('Takeover shop/over has no plan that could be confirmed.');
  expect(out).toContain('MembersUnasked');
});

test('how members would join is printed', async () => {
  begin({ spec: { mode: 'Join' } });
  withDefaults();
  const { code, out } = await run();
  expect(code).toBe(0);
  expect(out).toMatch(/^1 JoinMembers +- +- +new-0, new-1, new-2 join/m);
  expect(out).toMatch(/^3 LeaveMembers +- +no way back +old-a, old-b, old-c leave/m);
  expect(out).not.toContain('FreezeWriters');
});

test('how the data would be given up is printed', async () => {
  begin({ spec: { mode: 'Wipe' } });
  withDefaults();
  const { code, out } = await run();
  expect(code).toBe(0);
  expect(out).toMatch(/^1 MakeCluster +- +- +EtcdCluster new is made, and nothing is brought/m);
  expect(out).toMatch(/^2 SwitchService +- +no way back +Service old-client leads to/m);
  expect(out).toMatch(/^Keep +PersistentVolumeClaim +old-b +Loses its owner/m);
  expect(out).toContain('- DataLost: EtcdCluster new is born empty');
});

test('a NatsCluster is found as well', async () => {
  beginNats();
  world.kube.remove(TAKEOVERS, { namespace, name: 'over' });
  const { code, out } = await run();
  expect(code).toBe(0);
  expect(out).toContain('NatsCluster shop/old of nats.io, into NatsCluster old-2');
  expect(out).toMatch(/^4 MoveClients +- +no way back +old-1, old-2, old-3 are deleted/m);
  const { out: made } = await run('--manifests');
  expect(parseAllDocuments(made).map((one) => one.toJS())).toMatchObject([
    {
      metadata: { namespace, name: 'old' },
      spec: {
        legacy: { apiVersion: 'nats.io/v1alpha2', kind: 'NatsCluster', name: 'old' },
        mode: 'Route',
        into: { name: 'old-2' },
      },
    },
  ]);
});

test('a NATS of the chart is found, and no other StatefulSet', async () => {
  beginChart();
  world.kube.remove(TAKEOVERS, { namespace, name: 'over' });
  const others = [{}, { 'helm.sh/chart': 'redis-1.2.3' }, { 'helm.sh/chart': 'nats-9.0.1' }];
  for (const [at, labels] of others.entries()) {
    const metadata = { namespace, name: `other-${at}`, labels };
    world.kube.put(STATEFUL_SETS, {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata,
      spec: {},
    });
  }
  const { code, out } = await run();
  expect(code).toBe(0);
  expect(out).toContain('StatefulSet shop/old of apps, into NatsCluster old-2');
  expect(out).toMatch(/^4 MoveClients +- +no way back +The StatefulSet is scaled down one by one/m);
  const { out: made } = await run('--manifests');
  expect(parseAllDocuments(made).map((one) => one.toJS().spec)).toEqual([
    {
      legacy: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'old' },
      mode: 'Route',
      into: { name: 'old-2' },
    },
  ]);
  const { out: becomes } = await run('--nats-clusters');
  expect(becomes).toContain('clusterName: old');
  world.kube.remove(STATEFUL_SETS, { namespace, name: 'old' });
  expect(await run()).toEqual({ code: 0, out: expect.stringMatching(LINE), err: '' });
});

test('it prints the NatsCluster that one becomes, without a password', async () => {
  beginNats({ into: { replicas: 5 } });
  await sweep();
  const { out } = await run('--nats-clusters');
  expect(parseAllDocuments(out).map((one) => one.toJS())).toEqual([
    {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'NatsCluster',
      metadata: { namespace, name: 'new' },
      spec: {
        replicas: 5,
        accounts: [
          {
            name: '$G',
            users: [{ name: 'web', passwordSecret: { name: 'new-users', key: 'web' } }],
          },
        ],
      },
    },
  ]);
  begin();
  expect((await run('--nats-clusters')).out).toBe('');
});

test('it prints Takeovers to apply', async () => {
  withDefaults();
  const apiVersion = 'etcd.database.coreos.com/v1beta2';
  const metadata = { namespace, name: '1.of.many' };
  world.kube.put(LEGACY_ETCDS, { apiVersion, kind: 'EtcdCluster', metadata, spec: {} });
  const { out } = await run('--manifests');
  const made = parseAllDocuments(out).map((one) => one.toJS());
  expect(
    made.map(({ metadata: { name }, spec }) => [name, spec.legacy.name, spec.into.name]),
  ).toEqual([
    ['old', 'old', 'old-2'],
    ['1-of-many', '1.of.many', 'etcd-1-of-many-2'],
  ]);
  expect(made[0]).toMatchObject({
    kind: 'Takeover',
    metadata: { namespace },
    spec: { mode: 'Restore' },
  });
});
