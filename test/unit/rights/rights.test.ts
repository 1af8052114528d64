// `npm run rights` prints rights in one namespace or on one Secret, and refuses arguments that it
// cannot follow.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { answer, USAGE } from '../../../knative/tools/rights/command.ts';
import { UsageError } from '../../../shared/arguments.ts';

const MAIN = fileURLToPath(new URL('../../../knative/tools/rights/main.ts', import.meta.url));

const rights = (...args: readonly string[]) =>
  parseAllDocuments(answer(args)).map((one) => one.toJS());

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('of nats-cluster: a Role where the clusters are, for the account where it runs', () => {
  const [role, binding, policy, guard] = rights('nats-cluster', '-n', 'shop');
  expect([role.kind, role.metadata.namespace]).toEqual(['Role', 'shop']);
  expect(binding).toMatchObject({
    kind: 'RoleBinding',
    metadata: { namespace: 'shop' },
    roleRef: { kind: 'Role', name: role.metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: 'nats-cluster', namespace: 'ballast-system' }],
  });
  expect(guard.spec).toMatchObject({
    policyName: policy.metadata.name,
    paramRef: { namespace: 'shop' },
  });
});

test.each(['nats-cluster', 'etcd-cluster'])('a guard of %s looks in each version', (name) => {
  const guards = rights(name, '-n', 'shop').filter(({ kind }) => kind.includes('AdmissionPolicy'));
  const policies = guards.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
  expect(policies.map(({ spec }) => spec.paramKind.apiVersion)).toEqual([
    'ballast.dev/v1alpha1',
    'ballast.dev/v1beta1',
  ]);
  const bound = guards.flatMap(({ spec }) => spec.policyName ?? []);
  expect(bound).toEqual(policies.map(({ metadata }) => metadata.name));
  expect(new Set(guards.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).size).toBe(4);
});

test('of one cluster: each Secret by its name, and those of the user to be read alone', () => {
  const args = ['nats-cluster', '-n', 'shop', '--cluster', 'nats', '--secret', 'passwords'];
  const [role] = rights(...args, '--user', 'agent');
  const ofSecrets = role.rules.filter((rule: { readonly resources: readonly string[] }) =>
    rule.resources.includes('secrets'),
  );
  const own = ['nats-config', 'nats-system', 'nats-user', 'nats-tls', 'nats-user-agent'];
  const secrets = { apiGroups: [''], resources: ['secrets'] };
  expect(ofSecrets).toEqual([
    { ...secrets, resourceNames: own, verbs: ['get', 'patch'] },
    { ...secrets, verbs: ['create'] },
    { ...secrets, resourceNames: ['passwords'], verbs: ['get'] },
  ]);
});

test('of etcd-cluster: what a cluster is made of, no workloads, and a guard', () => {
  const [role, binding, policy, guard] = rights('etcd-cluster', '-n', 'shop');
  expect([role.kind, role.metadata.namespace]).toEqual(['Role', 'shop']);
  expect(binding).toMatchObject({
    roleRef: { kind: 'Role', name: role.metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: 'etcd-cluster', namespace: 'ballast-system' }],
  });
  expect(JSON.stringify(role.rules)).toContain('secrets');
  expect(JSON.stringify(role.rules)).not.toContain('statefulsets');
  expect(role.rules).toContainEqual({
    apiGroups: ['ballast.dev'],
    resources: ['etcdbackupschedules'],
    verbs: ['list'],
  });
  const [condition] = policy.spec.matchConditions;
  expect(condition.expression).toContain("['etcdclusters.ballast.dev', 'etcdpeers.ballast.dev']");
  expect(guard.spec).toMatchObject({
    policyName: policy.metadata.name,
    paramRef: { namespace: 'shop' },
  });
});

test('of one etcd: each Secret by its name, and those of the spec to be read alone', () => {
  const args = [
    'etcd-cluster',
    '-n',
    'shop',
    '--cluster',
    'main',
    '--secret',
    'given',
    '--user',
    'app',
  ];
  const [role] = rights(...args);
  const of = (resource: string) =>
    role.rules.filter(({ resources }: { readonly resources: readonly string[] }) =>
      resources.includes(resource),
    );
  const own = [
    'main-tls',
    'main-client',
    'main-clients-ca',
    'main-peers-ca',
    'main-root',
    'main-starts',
    'main-user-app',
  ];
  const secrets = { apiGroups: [''], resources: ['secrets'] };
  expect(of('secrets')).toEqual([
    { ...secrets, resourceNames: own, verbs: ['get', 'patch'] },
    { ...secrets, verbs: ['create'] },
    { ...secrets, resourceNames: ['given'], verbs: ['get'] },
  ]);
  expect(of('pods')[0].resourceNames).toContain('main-15-0');
  expect(of('pods')[1]).toMatchObject({ verbs: ['list'] });
});

test('of etcd-peer: a Role where the clusters are, and no Secret in it', () => {
  const [role, binding] = rights('etcd-peer', '-n', 'shop');
  expect([role.kind, role.metadata.namespace]).toEqual(['Role', 'shop']);
  expect(JSON.stringify(role.rules)).not.toContain('secrets');
  expect(binding).toMatchObject({
    roleRef: { kind: 'Role', name: role.metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: 'etcd-peer', namespace: 'ballast-system' }],
  });
});

test('of the members of one etcd: each object by its name', () => {
  const [role] = rights('etcd-peer', '-n', 'shop', '--cluster', 'main');
  const of = (resource: string) =>
    role.rules.filter(({ resources }: { readonly resources: readonly string[] }) =>
      resources.includes(resource),
    );
  const [named, nameless] = of('persistentvolumeclaims');
  expect(named.resourceNames).toEqual(expect.arrayContaining(['data-main-0', 'data-main-15']));
  expect([named.verbs, nameless.verbs]).toEqual([['get', 'patch'], ['create']]);
  expect(of('pods')).toMatchObject([{ verbs: ['get'] }]);
  expect(of('pods')[0].resourceNames).toContain('main-0-0');
});

test('of takeover: what it changes, Secrets by name, and an operator elsewhere', () => {
  const args = [
    'takeover',
    '-n',
    'shop',
    '--secret',
    'client-tls',
    '--operator',
    'ops/etcd-operator',
  ];
  const [role, binding, other, itsBinding] = rights(...args);
  expect(binding.subjects).toEqual([
    { kind: 'ServiceAccount', name: 'takeover', namespace: 'ballast-system' },
  ]);
  type Granted = { readonly resources: readonly string[]; readonly verbs: readonly string[] };
  const rules: readonly Granted[] = role.rules;
  const changes = rules.filter(({ verbs }) => verbs.some((verb) => !/^(get|list)$/.test(verb)));
  expect(changes.flatMap(({ resources }) => resources)).toEqual([
    'etcdclusters',
    'etcdclusters',
    'natsclusters',
    'etcdclusters',
    'etcdpeers',
    'pods',
    'services',
    'persistentvolumeclaims',
    'deployments',
    'etcdbackups',
    'etcdrestores',
    'etcdclusters',
    'natsclusters',
    'secrets',
    'events',
  ]);
  expect(role.rules.at(-1)).toEqual({
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: ['client-tls'],
    verbs: ['get'],
  });
  expect([other.metadata.namespace, itsBinding.metadata.namespace]).toEqual(['ops', 'ops']);
  expect(other.rules).toEqual([
    {
      apiGroups: ['apps'],
      resources: ['deployments'],
      resourceNames: ['etcd-operator'],
      verbs: ['get', 'patch'],
    },
  ]);
});

test('of takeover: an EtcdCluster is made by its name alone', () => {
  const [role] = rights('takeover', '-n', 'shop', '--into', 'old-2', '--secret', 'client-tls');
  expect(role.rules).toContainEqual({
    apiGroups: ['ballast.dev'],
    resources: ['etcdclusters'],
    resourceNames: ['old-2'],
    verbs: ['make'],
  });
});

test('of takeover: a StatefulSet is changed by its name alone, and one ConfigMap read', () => {
  const [role] = rights('takeover', '-n', 'shop', '--chart', 'nats');
  const named = role.rules.filter((one: object) => 'resourceNames' in one);
  expect(named).toEqual([
    {
      apiGroups: ['apps'],
      resources: ['statefulsets'],
      resourceNames: ['nats'],
      verbs: ['delete', 'patch'],
    },
    { apiGroups: [''], resources: ['configmaps'], resourceNames: ['nats-config'], verbs: ['get'] },
  ]);
});

test('of takeover: without a name no Secret is read, and no EtcdCluster made', () => {
  type Granted = { readonly resources: readonly string[]; readonly verbs: readonly string[] };
  const [nameless] = rights('takeover', '-n', 'shop');
  expect(JSON.stringify(nameless.rules)).not.toContain('make');
  const ofSecrets = (nameless.rules as Granted[]).filter(({ resources }) =>
    resources.includes('secrets'),
  );
  expect(ofSecrets.map(({ verbs }) => verbs)).toEqual([['create']]);
});

test.each([
  [['takeover'], 'in which namespace?'],
  [['takeover', '-n', 'shop', '--cluster', 'a'], 'takes -n, --secret, --operator, --into'],
  [['takeover', '-n', 'shop', '--operator', 'a'], '--operator wants a namespace and the name'],
  [['etcd-peer', '-n', 'shop', '--operator', 'a/b'], '--operator is for takeover alone'],
  [['etcd-peer', '-n', 'shop', '--into', 'a'], '--into is for takeover alone'],
  [['takeover', '-n', 'shop', '--into', 'A'], '--into "A" is no name'],
  [['takeover', '-n', 'shop', '--chart', 'A'], '--chart "A" is no name'],
  [['etcd-peer', '-n', 'shop', '--chart', 'a'], '--chart is for takeover alone'],
])('%j is refused', (args, why) => {
  expect(() => answer(args)).toThrow(why);
});

test('of metadata: each Secret by its name', () => {
  const objects = rights('metadata', '--secret', 'one', '--secret', 'two');
  expect(objects.map(({ kind, metadata: { name } }) => `${kind} ${name}`)).toEqual([
    'Role ballast-metadata.one',
    'RoleBinding ballast-metadata.one',
    'Role ballast-metadata.two',
    'RoleBinding ballast-metadata.two',
  ]);
  expect(objects[0].rules).toEqual([
    { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'watch'], resourceNames: ['one'] },
  ]);
});

test('help is asked for', () => {
  expect(answer(['--help'])).toMatch(/^usage: npm run -s rights -- /);
});

test('the command prints what can be followed, and else ends with 2 and its usage', () => {
  const args = ['metadata', '--secret', 'one'];
  expect(run(...args)).toEqual({ status: 0, stdout: answer(args), stderr: '' });
  const stderr = `which Secret? Add --secret NAME\n\n${USAGE}`;
  expect(run('metadata')).toEqual({ status: 2, stdout: '', stderr });
});

test.each([
  [[], 'the rights of which function?'],
  [['locate'], 'locate has no rights to be granted'],
  [['nats-cluster'], 'in which namespace? Add -n NAMESPACE'],
  [['nats-cluster', '-n', 'Shop'], '--namespace "Shop" is no name that Kubernetes takes'],
  [['nats-cluster', '-n', 'a', '--secret', 'b'], 'add --cluster NAME'],
  [['nats-cluster', '-n', 'a', '--user', 'b'], '--user narrows the rights for one cluster'],
  [['etcd-cluster'], 'in which namespace? Add -n NAMESPACE'],
  [['etcd-cluster', '-n', 'a', '--secret', 'b'], 'add --cluster NAME'],
  [['etcd-cluster', '-n', 'a', '--user', 'b'], '--user narrows the rights for one cluster'],
  [['etcd-peer'], 'in which namespace? Add -n NAMESPACE'],
  [['etcd-peer', '-n', 'a', '--secret', 'b'], 'etcd-peer reads no Secret'],
  [['metadata', '--secret', 'b', '--user', 'c'], 'it takes --secret alone'],
  [['nats-cluster', 'metadata', '-n', 'a'], 'one function at a time, not also metadata'],
  [['metadata'], 'which Secret? Add --secret NAME'],
  [['metadata', '-n', 'a', '--secret', 'b'], 'it takes --secret alone'],
  [['nats-cluster', '--all'], 'there is no option --all'],
])('%j cannot be followed', (args, why) => {
  expect(() => answer(args)).toThrow(UsageError);
  expect(() => answer(args)).toThrow(why);
});
