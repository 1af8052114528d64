// The chart on the real API server with the definitions and webhooks of the real Knative, by the
// lines of docs/helm.md: installed, upgraded, rolled back, taken away, and over from kustomize.
// After each of them all that people have made is there, and the same.
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emitChart } from '../../../knative/tools/build/chart/build.ts';
import { knativeNames } from '../../../knative/tools/build/function-names.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { type Helm, helmIn } from '../../builders/helm.ts';
import { runProgram, type Told } from '../../builders/run-program.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { startWebhooks } from './knative-webhooks.ts';

const REPO = resolve(import.meta.dirname, '../../..');
const NAMESPACE = 'ballast-system';
const RELEASE = ['ballast', '--namespace', 'ballast-release'];
/** Modules are downloaded when they are read for the first time. */
const PREPARE_MS = 180_000;
const AS = '--as=system:serviceaccount:ballast-system:nats-cluster';
const SECRET_BYTES_WANTED = 700_000;
/** Helm applies a release object by object; others use the machine, too. */
const SLOW = { timeout: 180_000 };

let plane: PlaneAddress;
let dir: string;
let kubectlPath: string;
let helm: Helm;
/** The chart, and the one after it. */
let chart: string;
let next: string;
/** How many objects there are, and how many of them are definitions. */
let everything: number;
let definitions: number;

beforeAll(async () => {
  plane = sharedPlane();
  dir = await mkdtemp(join(tmpdir(), 'ballast-helm-'));
  kubectlPath = await resolvePart('kubectl');
  helm = helmIn(join(dir, 'home'), plane.kubeconfigPath);
  const manifests = join(REPO, 'knative');
  chart = await emitChart({ choices: [], manifests, version: '0.1.0' }, join(dir, 'chart'));
  next = await following(join(dirname(chart), 'ballast'));
  const kinds = (await well(kubectl(['kustomize', 'knative']))).match(/^kind: .*$/gm) ?? [];
  everything = kinds.length;
  definitions = kinds.filter((kind) => kind.endsWith(' CustomResourceDefinition')).length;
  await startWebhooks(plane);
}, PREPARE_MS);

afterAll(() => rm(dir, { recursive: true, force: true }));

/** One object more, one less, and one with less in it. */
async function following(before: string): Promise<string> {
  const after = join(dir, 'next');
  await cp(before, after, { recursive: true });
  const edit = async (path: string, change: (text: string) => string): Promise<void> => {
    const text = await readFile(join(after, path), 'utf8');
    const changed = change(text);
    expect(changed).not.toBe(text);
    await writeFile(join(after, path), changed);
  };
  await edit('Chart.yaml', (text) => text.replaceAll('0.1.0', '0.2.0'));
  await edit('templates/base.yaml', (text) =>
    text
      .split('---\n')
      .filter((one) => !one.includes('name: sources'))
      .join('---\n')
      .replace(/ +pod-security.kubernetes.io\/warn: .*\n/, ''),
  );
  const metadata = { name: 'newcomer', namespace: NAMESPACE };
  await writeFile(
    join(after, 'templates/newcomer.yaml'),
    JSON.stringify({ apiVersion: 'v1', kind: 'ServiceAccount', metadata }),
  );
  return after;
}

/** It warns of each object that Helm has left. */
const NOT_BY_KUBECTL = /^Warning: resource .* is missing the .*last-applied-configuration .*\n/gm;

async function kubectl(args: readonly string[], input = ''): Promise<Told> {
  const all = ['--kubeconfig', plane.kubeconfigPath, ...args];
  const told = await runProgram(kubectlPath, all, { cwd: REPO, input });
  return { ...told, err: told.err.replaceAll(NOT_BY_KUBECTL, '') };
}

async function well(running: Promise<Told>): Promise<string> {
  const { status, out, err } = await running;
  expect({ status, err }).toEqual({ status: 0, err: '' });
  return out;
}

/** Names of the objects of the manifests that are there. */
async function installed(): Promise<readonly string[]> {
  const out = await well(
    kubectl(['get', '-k', 'knative', '--ignore-not-found', '--output', 'name']),
  );
  return out.trim().split('\n');
}

const namesOf = async (what: string): Promise<readonly string[]> =>
  (await well(kubectl(['get', what, '-n', NAMESPACE, '-o', 'name']))).trim().split('\n');
const settings = async (): Promise<readonly string[]> =>
  (await namesOf('configmap')).filter((name) => name.includes('ballast-settings'));

const OF_PEOPLE = ['metadatafeeds', 'natsclusters', 'storagemigrations', 'secrets', 'crd'];

/** Objects that people have made, and their definitions, with their uids. */
async function ofPeople(): Promise<string> {
  const columns = 'KIND:.kind,NAME:.metadata.name,UID:.metadata.uid';
  const read = ['get', '--no-headers', '-o', `custom-columns=${columns}`, '-A'];
  const out = await well(kubectl([...read, OF_PEOPLE.join(',')]));
  const lines = out.split('\n').filter((line) => /ballast\.dev|cluster |nats|gadgets/.test(line));
  expect(lines).toHaveLength(definitions + 4);
  return lines.toSorted().join('\n');
}

/** Another one is another revision. */
const generations = (): Promise<string> =>
  well(kubectl(['get', 'ksvc', '-n', NAMESPACE, '-o', 'custom-columns=:metadata.generation']));

test('it installs everything, and what people make then is theirs', SLOW, async () => {
  const out = await well(helm('install', ...RELEASE, '--create-namespace', chart));
  const migration = {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'StorageMigration',
    metadata: { name: 'gadgets.example.com' },
    spec: { resource: { group: 'example.com', resource: 'gadgets' } },
  };
  await well(kubectl(['create', '-f', '-'], JSON.stringify(migration)));
  await well(kubectl(['apply', '-k', 'knative/feeds']));
  await well(kubectl(['apply', '-k', 'knative/nats']));
  const secret = ['create', 'secret', 'generic', 'nats-user-metadata', '-n', NAMESPACE];
  await well(kubectl([...secret, '--from-literal=url=nats://nats']));
  expect(out).toContain('kubectl -n ballast-system get ksvc,broker');
  expect(out).toContain('helm uninstall ballast -n ballast-release');
  expect(await installed()).toHaveLength(everything);
  // It has to fit into a Secret, of 1 MiB.
  const release = ['get', 'secret', '-n', 'ballast-release', '-o', 'jsonpath={.items[*].data}'];
  expect((await well(kubectl(release))).length).toBeLessThan(SECRET_BYTES_WANTED);
});

test('an upgrade takes what is gone away and leaves what people made', SLOW, async () => {
  const before = await ofPeople();
  const [first = ''] = await settings();
  const upgrade = ['upgrade', ...RELEASE, next, '--set', 'settings.NATS_URL=nats://other:4222'];
  // Somebody's edit is not overwritten in silence.
  const scale = '[{"op":"replace","path":"/spec/template/metadata/annotations/SCALE","value":"7"}]';
  const json = scale.replace('SCALE', 'autoscaling.knative.dev~1max-scale');
  await well(kubectl(['patch', 'ksvc/metadata', '-n', NAMESPACE, '--type=json', '-p', json]));
  const { status, err } = await helm(...upgrade);
  expect(err).toMatch(/conflict occurred while applying object ballast-system\/metadata serving/);
  expect(err).toMatch(/conflict with "kubectl-patch".*max-scale/s);
  expect(status).toBe(1);
  await well(helm(...upgrade, '--force-conflicts'));
  expect(await namesOf('serviceaccount')).toContain('serviceaccount/newcomer');
  expect(await namesOf('networkpolicy')).not.toContain('networkpolicy.networking.k8s.io/sources');
  const functions = await well(kubectl(['get', 'ksvc', '-n', NAMESPACE, '-o', 'yaml']));
  expect(functions).toContain(':0.2.0');
  expect(functions).not.toContain(':0.1.0');
  // Revisions that still run start from the former settings.
  expect(await settings()).toHaveLength(2);
  expect(functions).not.toContain(first.replace('configmap/', ''));
  expect(await ofPeople()).toBe(before);
});

test(
  'a rollback brings back what was, and former settings that are still there',
  SLOW,
  async () => {
    const before = await ofPeople();
    const { status, err } = await helm('rollback', 'ballast', '1', ...RELEASE.slice(1));
    expect(status).toBe(0);
    expect(err.split('\n').filter((line) => !line.includes('using cluster state'))).toEqual(['']);
    expect(await installed()).toHaveLength(everything);
    expect(await namesOf('serviceaccount')).not.toContain('serviceaccount/newcomer');
    const functions = await well(kubectl(['get', 'ksvc', '-n', NAMESPACE, '-o', 'yaml']));
    expect(functions).not.toContain(':0.2.0');
    expect(await ofPeople()).toBe(before);
  },
);

test('taking it away ends nothing that people made', SLOW, async () => {
  const before = await ofPeople();
  const rights = ['knative/tools/rights/main.ts', 'nats-cluster', '-n', NAMESPACE];
  const { stdout } = spawnSync(process.execPath, rights, { cwd: REPO });
  await well(kubectl(['apply', '-f', '-'], stdout.toString()));
  // A rollback applies what the Secret of the release says.
  const mayPatch = async (namespace: string): Promise<string> =>
    (await kubectl(['auth', 'can-i', 'patch', 'secrets', '-n', namespace, AS])).out.trim();
  await expect.poll(() => mayPatch(NAMESPACE)).toBe('yes');
  expect(await mayPatch('ballast-release')).toBe('no');
  const out = await well(helm('uninstall', ...RELEASE));
  expect(out).toContain('[Namespace] ballast-system');
  expect(out.match(/\[CustomResourceDefinition\]/g)).toHaveLength(definitions);
  const left = await installed();
  expect(left.filter((name) => !name.startsWith('customresourcedefinition'))).toEqual([
    'namespace/ballast-system',
    expect.stringMatching(/^configmap\/ballast-settings-/),
  ]);
  expect(left).toHaveLength(definitions + 2);
  expect(await ofPeople()).toBe(before);
  // The next installation has them again, and none has its release beside the functions.
  const install = (...where: readonly string[]): Promise<Told> =>
    helm('install', ...where, '--dry-run=server', chart);
  await well(install(...RELEASE));
  const beside = await install('ballast', '--namespace', NAMESPACE);
  expect(beside.err).toMatch(/"ballast-system" in namespace "" exists and cannot be imported/);
  // The guard is of `npm run rights`, and stays.
  for (const what of ['crd natsclusters.ballast.dev', `namespace ${NAMESPACE}`]) {
    const refused = await kubectl(['delete', '--dry-run=server', ...what.split(' ')]);
    expect(refused.err).toContain('NatsCluster ballast-system/nats is still there');
  }
});

/** Two functions are enough to be taken over: the same by kustomize, and as values. */
async function few(): Promise<{ readonly kustomization: string; readonly values: string }> {
  const kustomization = join(dir, 'few');
  const at = (name: string): string => relative(kustomization, join(REPO, 'knative', name));
  const resources = ['base', 'functions/dead-letters', 'functions/metadata'].map(at);
  await mkdir(kustomization);
  await writeFile(
    join(kustomization, 'kustomization.yaml'),
    JSON.stringify({ resources, components: [at('settings')] }),
  );
  const others = (await knativeNames()).filter((name) => !/^(dead-letters|metadata)$/.test(name));
  const functions = Object.fromEntries(others.map((name) => [name, false]));
  const values = join(dir, 'few.json');
  await writeFile(values, JSON.stringify({ functions }));
  return { kustomization, values };
}

test('what kustomize installed is taken over where that is asked for', SLOW, async () => {
  const { kustomization, values } = await few();
  await well(kubectl(['apply', '-k', kustomization]));
  const before = await ofPeople();
  const functions = await generations();
  const install = ['install', ...RELEASE, '--create-namespace', chart, '--values', values];
  const refused = await helm(...install);
  expect(refused.err).toContain('exists and cannot be imported into the current release');
  expect(refused.status).toBe(1);

  await well(helm(...install, '--take-ownership', '--server-side=false'));
  expect(await generations()).toBe(functions);
  await well(helm('upgrade', ...RELEASE, next));
  // kubectl, which has set it too, would keep it for itself where the server applied.
  const labels = ['get', 'namespace', NAMESPACE, '-o', 'jsonpath={.metadata.labels}'];
  expect(await well(kubectl(labels))).not.toContain('pod-security.kubernetes.io/warn');
  expect(await ofPeople()).toBe(before);
});
