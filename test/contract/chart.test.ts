// The chart, rendered by the real Helm: with its own values it has the objects that kustomize makes
// of the same manifests, each value does what the same wish does in a kustomization, and values
// that nobody can mean are refused.
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emitChart } from '../../knative/tools/build/chart/build.ts';
import { choices, COMPONENTS } from '../../knative/tools/build/chart/choices.ts';
import { readKustomization } from '../../knative/try/local/manifests/documents.ts';
import { resolvePart } from '../../knative/try/local/parts/resolve.ts';
import type { Manifest } from '../../shared/kube/objects.ts';
import { type Helm, helmIn, objectsIn } from '../builders/helm.ts';

const REPO = resolve(import.meta.dirname, '../..');
const DESCRIBED = 'knative/crds/storage-migration.yaml';
/** Text of ours that Helm would read as a template. */
const HOSTILE = '{{ .Values.none }} {{- fail `no` }} {{/* }} \'{{\' "{{"';

let dir: string;
let chart: string;
let helm: Helm;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ballast-chart-'));
  for (const folder of ['knative', 'docs/example']) {
    await cp(join(REPO, folder), join(dir, folder), {
      recursive: true,
      filter: (path) => !/knative\/(tools|try)$/.test(path),
    });
  }
  const definition = join(dir, DESCRIBED);
  const text = await readFile(definition, 'utf8');
  const described = text.replace('What it is at.', () => JSON.stringify(HOSTILE));
  await writeFile(definition, described);
  const source = { choices, manifests: join(dir, 'knative'), version: '0.1.0' };
  chart = await emitChart(source, join(dir, 'chart'));
  helm = helmIn(join(dir, 'home'));
});

afterAll(() => rm(dir, { recursive: true, force: true }));

/** Objects that kustomize makes of a folder. */
async function kustomized(folder: string): Promise<readonly Manifest[]> {
  const kubectl = await resolvePart('kubectl');
  const options = { maxBuffer: 20_000_000 };
  const { stdout } = await promisify(execFile)(kubectl, ['kustomize', join(dir, folder)], options);
  return objectsIn(stdout);
}

async function kustomization(name: string, fields: object): Promise<readonly Manifest[]> {
  await mkdir(join(dir, name));
  await writeFile(join(dir, name, 'kustomization.yaml'), JSON.stringify(fields));
  return kustomized(name);
}

async function templated(values: object = {}): Promise<readonly Manifest[]> {
  const file = join(dir, 'values.json');
  await writeFile(file, JSON.stringify(values));
  const told = await helm('template', 'ballast', chart, '--values', file);
  expect({ status: told.status, err: told.err }).toEqual({ status: 0, err: '' });
  return objectsIn(told.out);
}

const nameOf = ({ apiVersion, kind, metadata }: Manifest): string =>
  [apiVersion, kind, metadata.namespace ?? '', metadata.name].join(' ');

const byName = (objects: readonly Manifest[]): Readonly<Record<string, Manifest>> =>
  Object.fromEntries(objects.map((object) => [nameOf(object), object]));

const KEPT = { 'helm.sh/resource-policy': 'keep' };

/** Without what Helm is told, and the kinds and names of those where it was told. */
function withoutPolicy(objects: readonly Manifest[]): {
  readonly objects: readonly Manifest[];
  readonly kept: readonly string[];
} {
  const kept: string[] = [];
  const plain = objects.map((object) => {
    const { annotations, ...metadata } = object.metadata;
    if (JSON.stringify(annotations) !== JSON.stringify(KEPT)) return object;
    kept.push(`${object.kind} ${metadata.name.replace(/-[a-z0-9]{10}$/, '')}`);
    return { ...object, metadata };
  });
  return { objects: plain, kept: kept.toSorted() };
}

const expectSame = (one: readonly Manifest[], other: readonly Manifest[]): void => {
  expect(byName(withoutPolicy(one).objects)).toEqual(byName(other));
  expect(one).toHaveLength(other.length);
};

test('Helm has nothing against it', async () => {
  const { status, out } = await helm('lint', '--strict', chart);
  expect([status, out]).toEqual([
    0,
    expect.stringContaining('1 chart(s) linted, 0 chart(s) failed'),
  ]);
});

test('it has the objects of kustomize, and marks those that Helm is never to delete', async () => {
  const objects = await templated();
  const expected = await kustomized('knative');
  expectSame(objects, expected);
  const definitions = expected.filter(({ kind }) => kind === 'CustomResourceDefinition');
  expect(withoutPolicy(objects).kept).toEqual([
    'ConfigMap ballast-settings',
    ...definitions.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted(),
    'Namespace ballast-system',
  ]);
  const described = definitions.filter((one) => JSON.stringify(one).includes('{{ .Values.none }}'));
  expect(described).toHaveLength(1);
});

test('values change all that the example changes, to the same', async () => {
  const expected = await kustomized('docs/example');
  const range = (cidr: string): readonly string[] => [cidr];
  const objects = await templated({
    images: { repository: 'images.example.com/ballast' },
    settings: {
      NATS_URL: 'nats://nats.messaging.svc:4222',
      CALLER_SUBJECTS: 'system:serviceaccount:shop:web',
      ETCD_ENDPOINTS: 'https://192.0.2.1:2379',
    },
    components: { oidc: true, callers: true },
    network: { apiServer: range('192.0.2.10/32'), nats: range('198.51.100.0/24') },
    allowedImages: {
      nats: ['nats:', 'images.example.com/nats:'],
      etcd: ['quay.io/coreos/etcd:', 'images.example.com/etcd:'],
    },
    scale: { metadata: { min: 2, max: 5 } },
    broker: {
      class: 'Kafka',
      config: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: 'kafka-broker-config',
        namespace: 'knative-eventing',
      },
    },
  });
  // The one object that is no change of ours.
  expectSame(
    objects,
    expected.filter(({ kind, metadata }) => `${kind} ${metadata.name}` !== 'NetworkPolicy etcd'),
  );
});

test('it has every component that a kustomization may name', async () => {
  const components = COMPONENTS.map((name) => `../knative/${name}`);
  const expected = await kustomization('all', { resources: ['../knative'], components });
  const chosen = Object.fromEntries(COMPONENTS.map((name) => [name, true]));
  expectSame(await templated({ components: chosen }), expected);
});

const FUNCTIONS = (
  'console etcd-backup etcd-cluster etcd-peer etcd-restore locate metadata nats-cluster ' +
  'storage-audit storage-migration takeover'
).split(' ');

test('a function is left out with all that is its own, and nothing else is', async () => {
  const { out } = await helm('template', 'ballast', chart);
  const left = new Set((await templated({ functions: { metadata: false } })).map(nameOf));
  const gone = objectsIn(out).filter((object) => !left.has(nameOf(object)));
  for (const name of ['dead-letters', ...FUNCTIONS]) {
    const from = out.split('---\n').filter((one) => one.startsWith(sourceOf(name)));
    const folder = join(dir, 'knative/functions', name);
    const own = (await readKustomization(dir, folder)).map(({ value }) =>
      nameOf(value as Manifest),
    );
    expect(from.flatMap(objectsIn).map(nameOf).toSorted()).toEqual(own.toSorted());
  }
  const from = out.split('---\n').filter((one) => one.startsWith(sourceOf('metadata')));
  expect(gone.map(nameOf)).toEqual(from.flatMap(objectsIn).map(nameOf));
});

const sourceOf = (name: string): string => `# Source: ballast/templates/${name}.yaml\n`;

test('all functions may be left out but the one that the Broker names', async () => {
  const resources = ['crds', 'base', 'functions/dead-letters'].map((one) => `../knative/${one}`);
  const expected = await kustomization('few', { resources, components: ['../knative/settings'] });
  const functions = Object.fromEntries(FUNCTIONS.map((name) => [name, false]));
  expectSame(await templated({ functions }), expected);
});

test('digests count, in the settings too, and other settings have another name', async () => {
  const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
  const image = (name: string): object => ({ name: `dev.local/ballast/${name}`, newTag: 'v7' });
  const wanted = (name: string): object => ({ name: `dev.local/ballast/${name}`, digest });
  const few = ['etcd-backup', 'metadata'];
  const expected = await kustomization('digests', {
    resources: ['../knative'],
    images: [
      ...few.map(wanted),
      ...['dead-letters', ...FUNCTIONS].filter((name) => !few.includes(name)).map(image),
    ],
    configMapGenerator: [
      {
        name: 'ballast-settings',
        namespace: 'ballast-system',
        behavior: 'merge',
        literals: [
          `ETCD_BACKUP_IMAGE=dev.local/ballast/etcd-backup@${digest}`,
          'ETCD_RESTORE_IMAGE=dev.local/ballast/etcd-restore:v7',
        ],
      },
    ],
  });
  const digests = Object.fromEntries(few.map((name) => [name, digest]));
  expectSame(await templated({ images: { tag: 'v7', digests } }), expected);
});

test('the lines about digests make values of what `npm run images` prints', async () => {
  const page = await readFile(join(REPO, 'docs/helm.md'), 'utf8');
  const [, script = ''] = /```sh\n(\{\n[^]*?images\.yaml\n)```/.exec(page) ?? [];
  const images = 'images.example.com/ballast';
  const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
  const prints = ['conversion', 'metadata'].map((name) => `echo ${images}/${name}:0.1.0@${digest}`);
  const npm = join(dir, 'npm');
  await writeFile(npm, ['#!/bin/sh', ...prints].join('\n'));
  await chmod(npm, 0o755);
  const env = { PATH: `${dir}:/usr/bin:/bin` };
  await promisify(execFile)('bash', ['-e', '-c', script], { cwd: dir, env });
  const only = ['--show-only', 'templates/metadata.yaml'];
  const { out } = await helm('template', chart, '--values', join(dir, 'images.yaml'), ...only);
  expect(out).toContain(`image: "${images}/metadata@${digest}"`);
});

test.each([
  ['functions.metdata=false', "'/functions': additional properties 'metdata' not allowed"],
  ['functions.dead-letters=false', "properties 'dead-letters' not allowed"],
  ['functions.console=no', "'/functions/console': got string, want boolean"],
  ['components.oicd=true', "'/components': additional properties 'oicd' not allowed"],
  ['replicas=2', "'': additional properties 'replicas' not allowed"],
  ['settings.LOG=debug', "'/settings': additional properties 'LOG' not allowed"],
  ['settings.NATS_URL=', "'/settings/NATS_URL': minLength: got 0, want 1"],
  ['settings.NATS_URL=null', "'/settings': missing property 'NATS_URL'"],
  ['settings.CONFIRM_EVENTS=never', "CONFIRM_EVENTS': value must be one of '', 'true', 'false'"],
  ['images.tag=a b', "'/images/tag': 'a b' does not match pattern"],
  ['images.repository=https://a', "'/images/repository': 'https://a' does not match pattern"],
  ['images.digests.metadata=0123', "'/images/digests/metadata': '0123' does not match pattern"],
  ['network.nats={192.0.2.1}', "'/network/nats/0': '192.0.2.1' does not match pattern"],
  [`allowedImages.nats={nats'}`, "'/allowedImages/nats/0': 'nats\\'' does not match pattern"],
  ['scale.metadata.min=-1', "'/scale/metadata/min': minimum: got -1, want 0"],
  ['broker.class=Kafka', "'/broker': properties 'config' required, if 'class' exists"],
])('%s is refused', async (value, message) => {
  const { status, err } = await helm('template', 'ballast', chart, '--set', value);
  expect([status, err]).toEqual([1, expect.stringContaining(message)]);
});
