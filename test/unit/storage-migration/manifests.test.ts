// `npm run migrate` prints rights on one kind and no more, and a migration of just that kind.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { answer, USAGE } from '../../../knative/tools/migrate/command.ts';
import { askWhetherServed } from '../../../knative/tools/migrate/kind.ts';
import { UsageError } from '../../../shared/arguments.ts';

const MAIN = fileURLToPath(new URL('../../../knative/tools/migrate/main.ts', import.meta.url));

async function migrate(...args: readonly string[]) {
  const documents = parseAllDocuments(await answer([...args, '--offline']));
  return documents.map((one) => one.toJS());
}

const itself = (kind: string) => ({
  apiGroups: ['rbac.authorization.k8s.io'],
  resources: ['clusterroles'],
  resourceNames: [`ballast-storage-migration.${kind}`],
  verbs: ['get', 'patch'],
});

test('a custom resource: its objects, the status of its CRD, the role itself', async () => {
  const [role, binding, migration] = await migrate('widgets.demo.example.com');
  expect(role.rules).toEqual([
    { apiGroups: ['demo.example.com'], resources: ['widgets'], verbs: ['get', 'list', 'patch'] },
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions/status'],
      resourceNames: ['widgets.demo.example.com'],
      verbs: ['patch'],
    },
    itself('widgets.demo.example.com'),
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

test('a built-in kind has no CRD', async () => {
  const objects = await migrate('secrets', '--namespace', 'elsewhere');
  expect(objects[0].rules.slice(1)).toEqual([itself('secrets')]);
  expect(objects[1].subjects[0].namespace).toBe('elsewhere');
  expect(objects[2].spec).toEqual({ resource: { group: '', resource: 'secrets' } });
});

test.each([
  ['in-tree', 'InTree', 'storagemigration.k8s.io'],
  ['community', 'Community', 'migration.k8s.io'],
])('%s: beside the rest, orders to that migrator', async (option, mode, group) => {
  const [{ rules: plain }] = await migrate('widgets.example.com');
  const objects = await migrate('widgets.example.com', '--mode', option);
  expect(objects[0].rules).toEqual([
    ...plain.slice(0, -1),
    { apiGroups: [group], resources: ['storageversionmigrations'], verbs: ['create', 'get'] },
    itself('widgets.example.com'),
  ]);
  expect(objects[2].spec.mode).toBe(mode);
});

test('etcd is asked when that is wanted', async () => {
  const [, , migration] = await migrate('widgets.example.com', '--verify-etcd');
  expect(migration.spec.verify).toEqual(['SecondPass', 'Etcd']);
});

test('a dry run never trims, and rights can be had alone', async () => {
  const [, , dry] = await migrate('widgets.example.com', '--dry-run');
  expect(dry.spec).toMatchObject({ dryRun: true, trim: 'Never' });
  const [, , untrimmed] = await migrate('widgets.example.com', '--never-trim');
  expect(untrimmed.spec.trim).toBe('Never');
  const alone = await migrate('widgets.example.com', '--rights');
  expect(alone).toHaveLength(2);
  // A CRD that asks again needs them again: they do not end with one StorageMigration.
  expect(alone[0].rules).not.toContainEqual(itself('widgets.example.com'));
});

test.each([
  [[], 'which resource'],
  [['a', 'b'], 'one resource at a time'],
  [['Widgets.example.com'], 'is no resource'],
  [['widgets/status'], 'is no resource'],
  [['widgets', '--mode', 'InTree'], '--mode is ballast, in-tree, community, and not InTree'],
  [['widgets', '--mode', 'in-tree', '--dry-run'], 'another migrator cannot run dry'],
  [['widgets', '--wrong'], 'there is no option --wrong'],
])('%j is refused', async (args, why) => {
  const refused = answer([...args, '--offline']);
  await expect(refused).rejects.toThrow(UsageError);
  await expect(refused).rejects.toThrow(why);
});

test('--help tells how it is used', async () => {
  expect(await answer(['--help'])).toBe(USAGE);
  expect(USAGE).toContain('usage: npm run -s migrate');
});

/** Discovery of an API server that has widgets alone. */
const DISCOVERY: Readonly<Record<string, object>> = {
  '/apis/example.com': { versions: [{ version: 'v1' }, { version: 'v1alpha1' }] },
  '/apis/example.com/v1': { resources: [] },
  '/apis/example.com/v1alpha1': { resources: [{ name: 'widgets', kind: 'Widget' }] },
  '/api/v1': { resources: [{ name: 'secrets', kind: 'Secret' }] },
};

async function discoveryServer(discovery = DISCOVERY) {
  const server = createServer((request, response) => {
    const found = discovery[request.url ?? ''];
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { kind: 'Status', reason: 'NotFound', code: 404 }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return { server, url: `http://127.0.0.1:${port}` };
}

async function kubeconfigOf(dir: string, url: string): Promise<string> {
  const path = join(dir, 'kubeconfig');
  const context = { name: 'c', context: { cluster: 'c', user: 'u' } };
  const config = {
    'current-context': 'c',
    contexts: [context],
    clusters: [{ name: 'c', cluster: { server: url } }],
    users: [{ name: 'u', user: { token: 't' } }],
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}

async function migrateBeside(kubeconfig: string, name: string) {
  const child = spawn(process.execPath, [MAIN, name], { env: { KUBECONFIG: kubeconfig } });
  const ended = once(child, 'close');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status]: unknown[] = await ended;
  return { status, isPrinted: out.includes('kind: ClusterRole'), err };
}

test('rights on a kind that the API server has not are refused, not printed', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'migrate-test-'));
  const { server, url } = await discoveryServer();
  try {
    const kubeconfig = await kubeconfigOf(dir, url);
    vi.stubEnv('KUBECONFIG', kubeconfig);
    const said = await migrateBeside(kubeconfig, 'nosuch.kind');
    expect([said.status, said.isPrinted]).toEqual([2, false]);
    expect(said.err).toContain('the API server knows no nosuch.kind: ');
    expect(said.err).toContain(USAGE);
    const servedOf = async (group: string, resource: string) =>
      (await askWhetherServed(group, resource)).is;
    expect(await servedOf('example.com', 'gadgets')).toBe('unknown');
    expect(await servedOf('', 'nosuch')).toBe('unknown');
    expect(await servedOf('example.com', 'widgets')).toBe('served');
    expect(await servedOf('', 'secrets')).toBe('served');
  } finally {
    vi.unstubAllEnvs();
    server.close();
    server.closeAllConnections();
    await rm(dir, { recursive: true });
  }
});

test(
  'rights are printed with a note where no API server can be asked',
  { timeout: 30_000 },
  async () => {
    const dir = await mkdtemp(join(tmpdir(), 'migrate-test-'));
    try {
      const away = await kubeconfigOf(dir, 'http://127.0.0.1:1');
      for (const kubeconfig of [away, join(dir, 'none')]) {
        const said = await migrateBeside(kubeconfig, 'widgets.example.com');
        expect([said.status, said.isPrinted]).toEqual([0, true]);
        expect(said.err).toContain('Whether there is a widgets.example.com could not be asked');
      }
    } finally {
      await rm(dir, { recursive: true });
    }
  },
);

test.each([
  [['v1alpha1'], 'v1alpha1'],
  [['v1beta1', 'v1alpha1'], 'v1alpha1'],
  [['v1beta1'], 'v1beta1'],
  [[], 'v1alpha1'],
])('where %j of ours is served, a StorageMigration is printed in %s', async (versions, printed) => {
  const dir = await mkdtemp(join(tmpdir(), 'migrate-test-'));
  const ours = { versions: versions.map((version) => ({ version })) };
  const { server, url } = await discoveryServer({ ...DISCOVERY, '/apis/ballast.dev': ours });
  try {
    vi.stubEnv('KUBECONFIG', await kubeconfigOf(dir, url));
    const documents = parseAllDocuments(await answer(['widgets.example.com']));
    expect(documents.map((one) => one.toJS().apiVersion)).toContain(`ballast.dev/${printed}`);
  } finally {
    vi.unstubAllEnvs();
    server.close();
    server.closeAllConnections();
    await rm(dir, { recursive: true });
  }
});
