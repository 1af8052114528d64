// The lines of docs/install.md that install with kn, run as they are written, by the real kn on a
// real API server with the definitions of the real Knative. They make the objects of the manifests,
// but for fields that kn cannot set; each such field is named here.
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import type { KubeObject, Manifest } from '../../../shared/kube/objects.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';

const REPO = fileURLToPath(new URL('../../..', import.meta.url));
/** Where kn is built for the first time. */
const PREPARE_MS = 300_000;
const KINDS = new Set(['Service', 'Broker', 'Trigger', 'ApiServerSource', 'PingSource']);

let plane: PlaneAddress;
let kube: KubeClient;
let bin: string;

function shell(script: string): string {
  const env = {
    PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`,
    HOME: bin,
    KUBECONFIG: plane.kubeconfigPath,
    GOGC: '400',
  };
  const told = spawnSync('bash', ['-e', '-o', 'pipefail', '-c', script], {
    cwd: REPO,
    env,
    encoding: 'utf8',
  });
  const err = told.stderr.replaceAll(DEPRECATED, '');
  expect({ script, status: told.status, err }).toEqual({ script, status: 0, err: '' });
  return told.stdout;
}

/** kn asks for the old version, too, when it looks what a sink is. */
const DEPRECATED = /^Warning: sources\.knative\.dev\/v1beta2 .*\n/gm;

/** The blocks of shell lines below a heading. */
async function blocks(heading: string): Promise<readonly string[]> {
  const text = await readFile(join(REPO, 'docs/install.md'), 'utf8');
  const [, section = ''] = text.split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block);
}

beforeAll(async () => {
  bin = await mkdtemp(join(tmpdir(), 'ballast-kn-'));
  for (const name of ['kubectl', 'kn'] as const) {
    await symlink(await resolvePart(name), join(bin, name));
  }
  plane = sharedPlane();
  const { kubeconfigPath } = plane;
  kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  for (const block of await blocks('With kn')) shell(block);
}, PREPARE_MS);

afterAll(async () => {
  await kube?.close();
  await rm(bin, { recursive: true });
});

/** Values in `one` that `other` lacks or has otherwise, by path. */
function differences(one: unknown, other: unknown, path = ''): readonly string[] {
  if (Object.is(one, other)) return [];
  if (!isObject(one) || !isObject(other)) return [path];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.flatMap((name) =>
    differences(one[name], other[name], path === '' ? name : `${path}.${name}`),
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const CONTAINER = 'spec.template.spec.containers.0';
/** Allowed differences by kind; nothing else may differ. */
const LACKING: Readonly<Record<string, readonly string[]>> = {
  Service: [
    // Annotations that kn writes for itself.
    'spec.template.metadata.annotations.client.knative.dev/updateTimestamp',
    'spec.template.metadata.annotations.client.knative.dev/user-image',
    'spec.template.metadata.creationTimestamp',
    `${CONTAINER}.name`,
    // The one that there is, which Serving would take as well.
    `${CONTAINER}.livenessProbe.httpGet.port`,
    `${CONTAINER}.readinessProbe.httpGet.port`,
    // Fields that the API server adds.
    `${CONTAINER}.ports.0.protocol`,
    `${CONTAINER}.securityContext.readOnlyRootFilesystem`,
  ],
  Broker: ['labels', 'spec.delivery.deadLetterSink.ref.namespace'],
  Trigger: ['labels', 'spec.filter', 'spec.filters', 'spec.subscriber.ref.namespace'],
  ApiServerSource: ['labels', 'spec.sink.ref.namespace'],
  PingSource: ['labels', 'spec.sink.ref.namespace'],
};

const isByKn = ({ apiVersion, kind }: Manifest): boolean =>
  /knative/.test(apiVersion) && KINDS.has(kind);

function rendered(): readonly Manifest[] {
  const text = shell('kubectl kustomize knative');
  return [...parseAllDocuments(text)].map((document) => document.toJS() as Manifest);
}

/** As it was made; null when it was not. */
async function made({ apiVersion, kind, metadata }: Manifest): Promise<KubeObject | null> {
  const ref = await kube.resourceFor(apiVersion, kind);
  if (ref === undefined) throw new Error(`the API server has no ${kind}`);
  const { name, namespace } = metadata;
  // Some say one for kustomize alone.
  const isPlaced = ref.isNamespaced && namespace !== undefined;
  return kube.get(ref, { name, ...(isPlaced ? { namespace } : {}) });
}

test('what the lines make is what the manifests say, but for what kn cannot say', async () => {
  const objects = rendered().filter(isByKn);
  expect(objects).toHaveLength(36);
  for (const object of objects) {
    const { kind, metadata } = object;
    const said = JSON.stringify({ labels: metadata['labels'], spec: object['spec'] });
    const ours: unknown = JSON.parse(
      said
        .replaceAll(/ballast-settings-\w+/g, 'ballast-settings')
        // A variable without a value is empty, too.
        .replaceAll(',"value":""', ''),
    );
    const found = await made(object);
    const theirs = { labels: found?.metadata.labels, spec: found?.['spec'] };
    const differing = differences(ours, theirs).toSorted();
    expect([metadata.name, differing]).toEqual([metadata.name, (LACKING[kind] ?? []).toSorted()]);
  }
});

test('what kubectl applies before them is all the rest', async () => {
  const rest = rendered().filter((object) => !isByKn(object) && object.kind !== 'ConfigMap');
  expect(rest.length).toBeGreaterThan(25);
  const found = await Promise.all(rest.map(made));
  expect(rest.filter((_object, index) => found[index] === null)).toEqual([]);
});

test('kn lists what it made', () => {
  expect(shell('kn service list -n ballast-system')).toContain('storage-migration');
  expect(shell('kn trigger list -n ballast-system')).toContain('ksvc:metadata');
  expect(shell('kn source list -n ballast-system')).toContain('metadata-sweep');
  shell('kn service update metadata -n ballast-system --scale-max 5 --no-wait');
});

test('kn takes a manifest, and the image that it lacks', async () => {
  const text = await readFile(join(REPO, 'docs/install.md'), 'utf8');
  const line = /`(kn service apply [^`]*)`/.exec(text)?.[1] ?? '';
  shell(`${line} --no-wait`);
  const ref = { group: 'serving.knative.dev', version: 'v1', resource: 'services' };
  const found = await kube.get(ref, { namespace: 'ballast-system', name: 'metadata' });
  const [container] = Object(found?.['spec']).template.spec.containers;
  expect(container.image).toBe('dev.local/ballast/metadata:0.1.0');
  expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
});
