// The life of a version on a real API server, as the audit sees it: written, replaced, migrated,
// removed too early. Each door gives the same answer: the command, its bundle, and the function.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readFile } from 'node:fs/promises';
import { storageAudit } from '../../../functions/storage-audit/index.ts';
import { runAudit } from '../../../functions/storage-audit/command.ts';
import type { Answer } from '../../../functions/storage-audit/audit.ts';
import { buildFunction } from '../../../knative/tools/build/build.ts';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { EtcdWriter } from './world.ts';
import { CRDS } from '../../../shared/kube/crds.ts';

let plane: PlaneAddress;
let kube: KubeClient;
let dir: string;
let etcdUrl: string;
let audit: RunningFunction;

const name = 'widgets.example.com';
const widgets = (version: string) => ({ group: 'example.com', version, resource: 'widgets' });
const schema = {
  openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
};
const crd = (storage: string, versions = ['v1alpha1', 'v1']) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: versions.map((each) => ({
      name: each,
      served: true,
      storage: each === storage,
      schema,
    })),
  },
});
const widget = (of: string, more: object = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: of, namespace: 'default', ...more },
});

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'audit-test-'));
  plane = sharedPlane();
  await buildFunction('storage-audit', join(dir, 'dist'));
  etcdUrl = plane.part('etcd').url;
  kube = openKube({
    userAgent: 'test',
    fieldManager: 'test',
    kubeconfigPath: plane.kubeconfigPath,
  });
  await kube.apply(CRDS, crd('v1alpha1'), { force: true });
  await vi.waitFor(() => kube.list(widgets('v1')), { timeout: 10_000, interval: 100 });
  for (const of of ['a', 'b', 'c']) {
    await kube.apply(widgets('v1'), { ...widget(of), spec: { of } }, { force: true });
  }
  await kube.apply(CRDS, crd('v1'), { force: true });
  audit = await startFunction(storageAudit, {
    environment: { PORT: '0', LOG_LEVEL: 'silent', ETCD_ENDPOINTS: etcdUrl },
    build: { version: '0', commit: '' },
  });
});

afterAll(async () => {
  await audit.stop();
  await kube.close();
  await rm(dir, { recursive: true, force: true });
});

async function command(...args: readonly string[]) {
  const said = { out: '', err: '' };
  const out = (text: string): void => void (said.out += text);
  const err = (text: string): void => void (said.err += text);
  const code = await runAudit(args, { out, err, isWatched: false });
  return { code, ...said };
}

/** The one file that ships, alone in its process. */
const bundled = (...args: readonly string[]) =>
  new Promise<{ code: unknown; out: string; err: string }>((resolve) => {
    const file = join(dir, 'dist/storage-audit.mjs');
    execFile(process.execPath, [file, ...args], { env: {} }, (error, out, err) =>
      resolve({ code: error?.code ?? 0, out, err }),
    );
  });

const withoutOrigin = (json: string): Omit<Answer, 'of'> => {
  const { of: _, ...rest } = JSON.parse(json) as Answer;
  return rest;
};

const settled = (at: string) =>
  vi.waitFor(
    async () => {
      // The write path takes the new storage version when it likes: seen from what it writes.
      await kube.apply(
        widgets('v1'),
        { ...widget('probe'), spec: { at: Math.random() } },
        { force: true },
      );
      const { out } = await command(
        '--etcd',
        etcdUrl,
        '--resource',
        name,
        '--examples',
        '9',
        '--json',
      );
      const row = (JSON.parse(out) as Answer).rows.find(({ examples }) =>
        examples.includes('default/probe'),
      );
      if (row?.apiVersion !== `example.com/${at}`) throw new Error(`still in ${row?.apiVersion}`);
    },
    { timeout: 10_000, interval: 100 },
  );

test('objects of an old version are found: 1, a verdict, and one of them by name', async () => {
  await settled('v1');
  const path = join(dir, 'old.db');
  const { code, out } = await command('--etcd', etcdUrl, '--save', path);
  expect(code).toBe(1);
  expect(out).toMatch(
    /widgets\.example\.com +v1alpha1 +json +3 +default\/a, default\/b, default\/c/,
  );
  const why = 'v1alpha1 may not be removed, because 3 objects are stored in it, such as default/a.';
  expect(out).toContain(`\n  ${why}\n`);
  expect(out).toContain(`Something is stored in an old version:\n- ${name}: ${why}\n`);
});

test('the file, the running etcd, the bundle and the function say the same', async () => {
  const path = join(dir, 'same.db');
  const saved = await command('--etcd', etcdUrl, '--save', path, '--json');
  const expected = withoutOrigin(saved.out);
  const only = ['--resource', name, '--resource', 'secrets'];
  const live = await command('--etcd', etcdUrl, '--json');
  expect(withoutOrigin(live.out).verdicts).toEqual(expected.verdicts);
  const shipped = await bundled(path, '--json');
  expect([shipped.code, withoutOrigin(shipped.out)]).toEqual([1, expected]);
  const url = `http://127.0.0.1:${audit.port}/audit`;
  const posted = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: await readFile(path),
  });
  expect(withoutOrigin(await posted.text())).toEqual(expected);
  const [part, overHttp] = [
    await bundled(path, ...only, '--json'),
    await fetch(`${url}?resource=${name}&resource=secrets`),
  ];
  expect(withoutOrigin(await overHttp.text()).rows).toEqual(withoutOrigin(part.out).rows);
  expect(withoutOrigin(part.out).rows.map(({ resource }) => resource)).toEqual([
    'widgets',
    'widgets',
  ]);
});

test('the function reads its etcd as a page, and refuses what it cannot take', async () => {
  const url = `http://127.0.0.1:${audit.port}/audit`;
  const page = await fetch(url, { headers: { accept: 'text/plain' } });
  expect(await page.text()).toContain('v1alpha1 may not be removed');
  const cut = (await readFile(join(dir, 'old.db'))).subarray(0, 50_000);
  const refused = async (
    body: Uint8Array<ArrayBuffer>,
    type = 'application/octet-stream',
    query = '',
  ) => {
    const headers = { 'content-type': type };
    const answer = await fetch(`${url}${query}`, { method: 'POST', headers, body });
    const { code } = (await answer.json()) as { code: string };
    return `${answer.status} ${code}`;
  };
  expect(await refused(cut)).toBe('422 SNAPSHOT_DAMAGED');
  expect(await refused(cut, 'application/json')).toBe('415 CONTENT_TYPE_UNSUPPORTED');
  expect(await refused(cut, undefined, '?examples=-1')).toBe('400 QUERY_INVALID');
  expect(await refused(cut, undefined, '?resources=a')).toBe('400 QUERY_INVALID');
  expect(await refused(new Uint8Array(64 * 2 ** 20 + 1))).toBe('413 BODY_TOO_LARGE');
});

test('the API server alone cannot tell: 2, with what would', async () => {
  const only = ['--kube', '--kubeconfig', plane.kubeconfigPath, '--resource'];
  const { code, out } = await command(...only, name);
  expect(code).toBe(2);
  expect(out).toMatch(/v1alpha1, v1 \(storage\) +v1alpha1, v1 +4/);
  expect(out).toContain(
    'whether any of its 4 objects is stored in v1alpha1 the API server does not',
  );
  // The definition as it was made, with one version.
  const single = crd('v1', ['v1']);
  single.metadata.name = 'gadgets.example.com';
  single.spec.names = {
    plural: 'gadgets',
    singular: 'gadget',
    kind: 'Gadget',
    listKind: 'Gadgets',
  };
  await kube.apply(CRDS, single, { force: true });
  const gadget = { ...widget('a'), kind: 'Gadget' };
  const gadgets = { ...widgets('v1'), resource: 'gadgets' };
  await vi.waitFor(() => kube.apply(gadgets, gadget, { force: true }), { timeout: 10_000 });
  expect((await command(...only, single.metadata.name)).code).toBe(0);
  const builtIn = await bundled(...only, 'secrets');
  expect([builtIn.code, builtIn.out]).toEqual([2, expect.stringContaining('read etcd')]);
});

test('once every object is written again, the version may go: 0', async () => {
  const { items } = await kube.list(widgets('v1'));
  for (const { metadata } of items) {
    const { uid, resourceVersion } = metadata;
    const touch = widget(metadata.name, { uid, resourceVersion });
    await kube.apply(widgets('v1'), touch, { fieldManager: 'migration', force: false });
  }
  const { code, out } = await command('--etcd', etcdUrl);
  expect(code).toBe(0);
  expect(out).toContain('v1alpha1 may be removed: nothing is stored in it; trim');
  expect(out).toContain('Nothing is stored in an old version.\n');
});

test('a version that was removed too early is told, and what breaks the kind', async () => {
  const writer = new EtcdWriter(etcdUrl);
  const left = JSON.stringify({ ...widget('left'), apiVersion: 'example.com/v1alpha1' });
  await writer.put('/registry/example.com/widgets/default/left', left);
  const status = { status: { storedVersions: ['v1'] } };
  await kube.patch(CRDS, { name, subresource: 'status' }, { type: 'merge', body: status });
  await kube.apply(CRDS, crd('v1', ['v1']), { force: true });
  const { code, out } = await command('--etcd', etcdUrl, '--resource', name);
  expect(code).toBe(1);
  expect(out).toContain('v1alpha1 is not in the CRD any more, but 1 object is stored in it');
  expect(out).toContain('such as default/left');
  // Its first object can be read still, and the definition knows of one version alone.
  const alone = await command('--kube', '--kubeconfig', plane.kubeconfigPath, '--resource', name);
  expect(alone.code).toBe(2);
  expect(alone.out).toContain('is stored in a version that the CRD had before');
});

test('an encrypted or unreadable value makes the answer 2, and is named', async () => {
  const writer = new EtcdWriter(etcdUrl);
  await writer.delete('/registry/example.com/widgets/default/left');
  await writer.put('/registry/example.com/widgets/default/left', 'k8s:enc:aescbc:v1:key1:xyz');
  const hidden = await command('--etcd', etcdUrl, '--resource', name);
  expect([hidden.code, hidden.out]).toEqual([
    2,
    expect.stringContaining('encrypted aescbc:v1:key1'),
  ]);
  await writer.put('/registry/example.com/widgets/default/left', 'rubbish');
  const path = join(dir, 'rubbish.db');
  const rubbish = await command('--etcd', etcdUrl, '--save', path);
  expect(rubbish.code).toBe(2);
  expect(rubbish.out).toContain('/registry/example.com/widgets/default/left is neither JSON');
});
