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
  [['metadata', '--secret', 'b', '--user', 'c'], 'it takes --secret alone'],
  [['nats-cluster', 'metadata', '-n', 'a'], 'one function at a time, not also metadata'],
  [['metadata'], 'which Secret? Add --secret NAME'],
  [['metadata', '-n', 'a', '--secret', 'b'], 'it takes --secret alone'],
  [['nats-cluster', '--all'], 'there is no option --all'],
])('%j cannot be followed', (args, why) => {
  expect(() => answer(args)).toThrow(UsageError);
  expect(() => answer(args)).toThrow(why);
});
