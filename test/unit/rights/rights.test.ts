// What `npm run rights` prints: rights in one namespace or on one Secret, and a refusal of whatever
// it cannot follow.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

const MAIN = fileURLToPath(new URL('../../../knative/tools/rights/main.ts', import.meta.url));

function rights(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    encoding: 'utf8',
  });
  const objects = status === 0 ? parseAllDocuments(stdout).map((one) => one.toJS()) : [];
  return { status, stdout, stderr, objects };
}

test('of nats-cluster: a Role where the clusters are, for the account where it runs', () => {
  const [role, binding, policy, guard] = rights('nats-cluster', '-n', 'shop').objects;
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
  const [role] = rights(...args, '--user', 'agent').objects;
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
  const { objects } = rights('metadata', '--secret', 'one', '--secret', 'two');
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
  const { status, stdout } = rights('--help');
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^usage: npm run -s rights -- /)]);
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
  const { status, stdout, stderr } = rights(...args);
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain(why);
  expect(stderr).toContain('usage: npm run -s rights');
});
