// The types in shared/api and the definition name the same fields: a spec and a status with every
// field that the types have come back from the API server whole, and the schema has no other.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyObjects } from '../../../knative/local/cluster/apply-objects.ts';
import { loadWiring } from '../../../knative/local/manifests/load.ts';
import { type Plane, startPlane } from '../../../knative/local/plane/plane.ts';
import type { MetadataFeedSpec, MetadataFeedStatus } from '../../../shared/api/metadata-feed.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import type { Condition } from '../../../shared/kube/conditions.ts';

const { objects } = await loadWiring(fileURLToPath(new URL('../../../knative', import.meta.url)));
const PATH = '/apis/ballast.dev/v1alpha1/namespaces/ballast-system/metadatafeeds';

/** With every field, however deep. */
type Whole<Value> = Value extends readonly (infer Item)[]
  ? readonly [Whole<Item>, ...Whole<Item>[]]
  : Value extends object
    ? { readonly [Name in keyof Value]-?: Whole<Value[Name]> }
    : Value;

/** Namespaces are included or excluded, never both. */
const rest: Whole<Omit<MetadataFeedSpec, 'namespaces'>> = {
  resources: [
    {
      group: 'example.com',
      version: 'v1beta1',
      resource: 'widgets',
      matchLabels: { tier: 'gold' },
      fields: [{ name: 'size', path: '.spec.size' }],
    },
  ],
  pods: { labels: ['app'], annotations: ['example.com/*'] },
  stream: { name: 'other', replicas: 3, storage: 'Memory' },
  retention: { tombstoneSeconds: 7_200, historySeconds: 1_800 },
  sweepSeconds: 120,
  nats: { secretRef: { name: 'nats' } },
};
const namespaces: Whole<Required<MetadataFeedSpec>['namespaces']> = {
  include: ['web'],
  exclude: ['kube-system'],
};
const { include, exclude } = namespaces;

const at = '2026-01-02T03:04:05Z';
const condition: Whole<Condition> = {
  type: 'Ready',
  status: 'True',
  reason: 'Swept',
  message: 'All is well.',
  lastTransitionTime: at,
  observedGeneration: 1,
};
const status: Whole<Omit<MetadataFeedStatus, 'conditions'>> & { readonly conditions: unknown[] } = {
  observedGeneration: 1,
  epoch: 2,
  streamId: 'f3b1',
  version: 9_007_199_254_740_991,
  sweptAt: at,
  floorSequence: 12,
  resources: [
    {
      name: 'pods',
      resourceVersion: '123',
      verifiedAt: at,
      objects: 4,
      lacking: 1,
      stray: 2,
      oversize: 3,
    },
  ],
  scopes: [{ name: 'node', scopes: 5, objects: 6, digest: '0123456789abcdef' }],
  events: {
    received: 1,
    published: 2,
    unchanged: 3,
    overtaken: 4,
    healed: 5,
    unfounded: 6,
    oversize: 7,
  },
  conditions: [condition],
};

let plane: Plane;
let kube: KubeClient;

beforeAll(async () => {
  plane = await startPlane({ parts: ['etcd', 'kube-apiserver'] });
  const { kubeconfigPath } = plane;
  kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  await applyObjects(kube, objects);
});

afterAll(async () => {
  await kube?.close();
  await plane?.stop();
});

/** As `kubectl apply --server-side` does. A field that is not in the schema is an error. */
async function applyStrictly(path: string, body: object): Promise<Record<string, unknown>> {
  const manifest = { apiVersion: 'ballast.dev/v1alpha1', kind: 'MetadataFeed', ...body };
  const { text } = await kube.raw({
    method: 'PATCH',
    path,
    query: { fieldValidation: 'Strict', fieldManager: 'test', force: true },
    body: manifest,
    contentType: 'application/apply-patch+yaml',
    repeat: 'always',
  });
  return JSON.parse(text);
}

test.each([
  ['include', { include }],
  ['exclude', { exclude }],
])('a whole spec comes back as it was written, with %s', async (name, some) => {
  const spec = { ...rest, namespaces: some };
  const applied = await applyStrictly(`${PATH}/${name}`, { metadata: { name }, spec });
  expect(applied['spec']).toEqual(spec);
});

test('a whole status comes back as it was written, and leaves the spec alone', async () => {
  const metadata = { name: 'status' };
  await applyStrictly(`${PATH}/status`, { metadata, spec: {} });
  const applied = await applyStrictly(`${PATH}/status/status`, { metadata, status });
  expect(applied['status']).toEqual(status);
  expect(applied['spec']).toMatchObject({ sweepSeconds: 60 });
});

test('a field that the schema does not have is an error', async () => {
  const type = { apiVersion: 'ballast.dev/v1alpha1', kind: 'MetadataFeed' };
  const body = { ...type, metadata: { name: 'odd' }, spec: { sweepSecond: 60 } };
  const query = { fieldValidation: 'Strict' };
  const created = kube.raw({ method: 'POST', path: PATH, query, body, repeat: 'unsent' });
  await expect(created).rejects.toThrow('unknown field "spec.sweepSecond"');
});

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly enum?: readonly unknown[];
  readonly type: string;
}

const crd = objects.find(({ object }) => object.kind === 'CustomResourceDefinition')?.object as
  | undefined
  | { readonly spec: { readonly versions: readonly [Version] } };
if (crd === undefined) throw new Error('no manifest defines MetadataFeed');
interface Version {
  readonly schema: { readonly openAPIV3Schema: Schema };
}
const whole = crd.spec.versions[0].schema.openAPIV3Schema;

test('the schema has the fields of the types and no others', () => {
  expect(pathsIn(whole.properties?.['spec'])).toEqual(pathsOf({ ...rest, namespaces }));
  expect(pathsIn(whole.properties?.['status'])).toEqual(pathsOf(status));
});

test('each field is described in sentences', () => {
  const described = fieldsOf(whole).filter(([path]) => path !== '.metadata');
  const isSentence = ({ description = '' }: Schema): boolean => /^[A-Z].*[.]$/s.test(description);
  expect(described.filter(([, one]) => !isSentence(one)).map(([path]) => path)).toEqual([]);
});

test('whatever people write is bounded', () => {
  const isOpen = ({ type, maxItems, maxLength, enum: choices }: Schema): boolean =>
    (type === 'array' && maxItems === undefined) ||
    (type === 'string' && (maxLength ?? choices) === undefined);
  const written = fieldsOf(whole).filter(([path]) => path.startsWith('.spec'));
  expect(written.filter(([, one]) => isOpen(one)).map(([path]) => path)).toEqual([]);
});

function fieldsOf(schema: Schema | undefined, path = ''): readonly (readonly [string, Schema])[] {
  const named = Object.entries(schema?.properties ?? {});
  const unnamed = [schema?.items, schema?.additionalProperties].filter((one) => one !== undefined);
  const inner = [
    ...named.map(([name, one]) => [`${path}.${name}`, one] as const),
    ...unnamed.map((one) => [`${path}[]`, one] as const),
  ];
  return inner.flatMap(([where, one]) => [[where, one] as const, ...fieldsOf(one, where)]);
}

const pathsIn = (schema: Schema | undefined): readonly string[] =>
  fieldsOf(schema)
    .map(([path]) => path)
    .toSorted();

function pathsOf(value: unknown): readonly string[] {
  const walk = (one: unknown, path: string): readonly string[] => {
    if (typeof one !== 'object' || one === null) return [];
    // Labels have names of their own, as items of a list have numbers.
    const isUnnamed = Array.isArray(one) || path.endsWith('.matchLabels');
    return Object.entries(one).flatMap(([name, inner]) => {
      const where = isUnnamed ? `${path}[]` : `${path}.${name}`;
      return [where, ...walk(inner, where)];
    });
  };
  return [...new Set(walk(value, ''))].toSorted();
}
