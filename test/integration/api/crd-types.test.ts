// The types in shared/api and the definitions name the same fields: a spec and a status with every
// field that the types have come back from the API server whole, and the schemas have no other.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { letPeersBeWritten } from '../../builders/peer-writers.ts';
import { SHIPPED } from '../../builders/shipped.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { WHOLE_KINDS } from './whole.ts';

let kube: KubeClient;

beforeAll(async () => {
  const { kubeconfigPath } = sharedPlane();
  kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  await letPeersBeWritten(kube);
});

afterAll(async () => {
  await kube?.close();
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

interface Definition {
  readonly spec: {
    readonly names: { readonly kind: string };
    readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Schema } }];
  };
}

const schemas = new Map(
  SHIPPED.filter(({ object }) => object.kind === 'CustomResourceDefinition')
    .map(({ object }) => (object as unknown as Definition).spec)
    .map(({ names, versions }) => [names.kind, versions[0].schema.openAPIV3Schema]),
);

test('every kind of ours is looked at', () => {
  expect([...schemas.keys()].toSorted()).toEqual(WHOLE_KINDS.map(({ kind }) => kind).toSorted());
});

describe.each(WHOLE_KINDS)('$kind', ({ kind, path, specs, status, least, refused = [] }) => {
  const schema = schemas.get(kind);
  const type = { apiVersion: 'ballast.dev/v1alpha1', kind };

  /** As `kubectl apply --server-side` does. A field that is not in the schema is an error. */
  async function applyStrictly(where: string, body: object): Promise<Record<string, unknown>> {
    const { text } = await kube.raw({
      method: 'PATCH',
      path: `${path}/${where}`,
      query: { fieldValidation: 'Strict', fieldManager: 'test', force: true },
      body: { ...type, ...body },
      contentType: 'application/apply-patch+yaml',
      repeat: 'always',
    });
    return JSON.parse(text);
  }

  test.each(Object.entries(specs))(
    'a whole spec comes back as it was written: %s',
    async (name, spec) => {
      expect((await applyStrictly(name, { metadata: { name }, spec }))['spec']).toEqual(spec);
    },
  );

  test('a whole status comes back as it was written, and leaves the spec alone', async () => {
    const metadata = { name: 'status' };
    await applyStrictly('status', { metadata, spec: least.spec });
    const applied = await applyStrictly('status/status', { metadata, status });
    expect(applied['status']).toEqual(status);
    expect(applied['spec']).toMatchObject(least.filled);
  });

  test('a field that the schema does not have is an error', async () => {
    const body = { ...type, metadata: { name: 'odd' }, spec: { ...least.spec, oddSeconds: 60 } };
    const query = { fieldValidation: 'Strict' };
    const created = kube.raw({ method: 'POST', path, query, body, repeat: 'unsent' });
    await expect(created).rejects.toThrow('unknown field "spec.oddSeconds"');
  });

  test('the schema has the fields of the types and no others', () => {
    const spec = new Set([...Object.values(specs).flatMap(pathsOf), ...refused]);
    expect(pathsIn(schema?.properties?.['spec'])).toEqual([...spec].toSorted());
    expect(pathsIn(schema?.properties?.['status'])).toEqual(pathsOf(status));
  });

  test('each field is described in sentences', () => {
    const described = fieldsOf(schema).filter(([where]) => where !== '.metadata');
    const isSentence = ({ description = '' }: Schema): boolean => /^[A-Z].*[.]$/s.test(description);
    expect(described.filter(([, one]) => !isSentence(one)).map(([where]) => where)).toEqual([]);
  });

  test('whatever people write is bounded', () => {
    const isOpen = ({ type: of, maxItems, maxLength, enum: choices }: Schema): boolean =>
      (of === 'array' && maxItems === undefined) ||
      (of === 'string' && (maxLength ?? choices) === undefined);
    const written = fieldsOf(schema).filter(([where]) => where.startsWith('.spec'));
    expect(written.filter(([, one]) => isOpen(one)).map(([where]) => where)).toEqual([]);
  });
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
