// What `npm run migrate` prints: rights on one kind and no more, and a migration of just that kind.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

const MAIN = fileURLToPath(new URL('../../../knative/migrate/main.ts', import.meta.url));

function migrate(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    encoding: 'utf8',
  });
  const objects = status === 0 ? parseAllDocuments(stdout).map((one) => one.toJS()) : [];
  return { status, stdout, stderr, objects };
}

test('a custom resource: its objects, the status of its CRD, and nothing else', () => {
  const { objects } = migrate('widgets.demo.example.com');
  const [role, binding, migration] = objects;
  expect(role.rules).toEqual([
    { apiGroups: ['demo.example.com'], resources: ['widgets'], verbs: ['get', 'list', 'patch'] },
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions/status'],
      resourceNames: ['widgets.demo.example.com'],
      verbs: ['patch'],
    },
  ]);
  expect(binding.roleRef.name).toBe(role.metadata.name);
  expect(binding.subjects).toEqual([
    { kind: 'ServiceAccount', name: 'storage-migration', namespace: 'ballast-system' },
  ]);
  expect(migration).toMatchObject({
    kind: 'StorageMigration',
    metadata: { name: 'widgets.demo.example.com' },
    spec: { resource: { group: 'demo.example.com', resource: 'widgets' } },
  });
});

test('a built-in kind has no CRD', () => {
  const { objects } = migrate('secrets', '--namespace', 'elsewhere');
  expect(objects[0].rules).toHaveLength(1);
  expect(objects[1].subjects[0].namespace).toBe('elsewhere');
  expect(objects[2].spec).toEqual({ resource: { group: '', resource: 'secrets' } });
});

test.each([
  ['in-tree', 'InTree', 'storagemigration.k8s.io'],
  ['community', 'Community', 'migration.k8s.io'],
])('%s: beside the rest, orders to that migrator', (option, mode, group) => {
  const plain = migrate('widgets.example.com').objects[0].rules;
  const { objects } = migrate('widgets.example.com', '--mode', option);
  expect(objects[0].rules).toEqual([
    ...plain,
    { apiGroups: [group], resources: ['storageversionmigrations'], verbs: ['create', 'get'] },
  ]);
  expect(objects[2].spec.mode).toBe(mode);
});

test('etcd is asked when that is wanted', () => {
  const { verify } = migrate('widgets.example.com', '--verify-etcd').objects[2].spec;
  expect(verify).toEqual(['SecondPass', 'Etcd']);
});

test('a dry run never trims, and rights can be had alone', () => {
  expect(migrate('widgets.example.com', '--dry-run').objects[2].spec).toMatchObject({
    dryRun: true,
    trim: 'Never',
  });
  expect(migrate('widgets.example.com', '--never-trim').objects[2].spec.trim).toBe('Never');
  expect(migrate('widgets.example.com', '--rights').objects).toHaveLength(2);
});

test.each([
  [[], 'which resource'],
  [['a', 'b'], 'one resource at a time'],
  [['Widgets.example.com'], 'is no resource'],
  [['widgets/status'], 'is no resource'],
  [['widgets', '--mode', 'InTree'], '--mode is ballast, in-tree, community, and not InTree'],
  [['widgets', '--mode', 'in-tree', '--dry-run'], 'another migrator cannot run dry'],
  [['widgets', '--wrong'], 'there is no option --wrong'],
])('%j is refused with a usage line', (args, why) => {
  const { status, stderr } = migrate(...args);
  expect(status).toBe(2);
  expect(stderr).toContain(why);
  expect(stderr).toContain('usage: npm run -s migrate');
});

test('--help tells the same', () => {
  const { status, stdout } = migrate('--help');
  expect(status).toBe(0);
  expect(stdout).toContain('usage: npm run -s migrate');
});
