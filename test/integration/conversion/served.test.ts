// v1beta1 of every kind, served beside v1alpha1, on the real API server: objects of the one are
// read as the other and come back, in lists of hundreds, and with the function away.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webhookOf } from '../../../knative/try/local/timeline/steps.ts';
import { annotationOf } from '../../../shared/kube/own-kinds/kept.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { STORAGE_MIGRATIONS } from '../../../shared/api/storage-migration.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { letPeersBeWritten } from '../../builders/peer-writers.ts';
import { until } from '../../builders/versioned-kind.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { WHOLE_KINDS } from '../api/whole.ts';
import { alpha, beta, ConversionRig } from './rig.ts';

const START_MS = 120_000;
let rig: ConversionRig;

beforeAll(async () => {
  rig = await ConversionRig.start(sharedPlane());
  await letPeersBeWritten(rig.kube);
}, START_MS);

afterAll(async () => {
  await rig?.stop();
});

/** As `kubectl apply --server-side` does. */
async function applied(path: string, body: object): Promise<Record<string, unknown>> {
  const { text } = await rig.kube.raw({
    method: 'PATCH',
    path,
    query: { fieldValidation: 'Strict', fieldManager: 'test', force: true },
    body,
    contentType: 'application/apply-patch+yaml',
    repeat: 'always',
  });
  return JSON.parse(text);
}

async function read(path: string): Promise<KubeObject> {
  const { text } = await rig.kube.raw({ method: 'GET', path, repeat: 'always' });
  return JSON.parse(text);
}

describe.each(WHOLE_KINDS)('$kind', ({ kind, path: alphaPath, specs, status, least }) => {
  const betaPath = alphaPath.replace('/v1alpha1/', '/v1beta1/');
  const type = { apiVersion: 'ballast.dev/v1alpha1', kind };
  const betaType = { apiVersion: 'ballast.dev/v1beta1', kind };

  test.each(Object.entries(specs))(
    'a whole spec goes there and comes back: %s',
    async (name, spec) => {
      const metadata = { name };
      await applied(`${alphaPath}/${name}`, { ...type, metadata, spec });
      const there = await read(`${betaPath}/${name}`);
      expect(there).toMatchObject(betaType);
      await rig.kube.raw({ method: 'DELETE', path: `${alphaPath}/${name}`, repeat: 'unsent' });
      // Written as it was read: v1beta1 has a place for every field.
      const written = { ...betaType, metadata, spec: there['spec'] };
      expect((await applied(`${betaPath}/${name}`, written))['spec']).toEqual(there['spec']);
      expect((await read(`${alphaPath}/${name}`))['spec']).toEqual(spec);
    },
  );

  test('a whole status goes there and comes back, and a status there is one here', async () => {
    const metadata = { name: 'status' };
    await applied(`${alphaPath}/status`, { ...type, metadata, spec: least.spec });
    await applied(`${alphaPath}/status/status`, { ...type, metadata, status });
    const there = await read(`${betaPath}/status`);
    const other = { name: 'status-back' };
    await applied(`${alphaPath}/status-back`, { ...type, metadata: other, spec: least.spec });
    const body = { ...betaType, metadata: other, status: there['status'] };
    expect((await applied(`${betaPath}/status-back/status`, body))['status']).toEqual(
      there['status'],
    );
    expect((await read(`${alphaPath}/status-back`))['status']).toEqual(status);
  });

  test('an object that is put as it was read is not written', async () => {
    const before = await read(`${alphaPath}/status`);
    const there = await read(`${betaPath}/status`);
    const { metadata } = await rig.kube.update(beta(resourceIn(betaPath)), there, {});
    expect(metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect(await read(`${alphaPath}/status`)).toEqual(before);
  });
});

const resourceIn = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

test('v1beta1 says it in its own words', async () => {
  const path = '/apis/ballast.dev/v1beta1/namespaces/ballast-system/metadatafeeds/include';
  expect((await read(path))['spec']).toMatchObject({
    nats: { secretName: 'nats' },
    resources: [{ selector: { matchLabels: { tier: 'gold' } } }],
  });
});

describe('what v1alpha1 has no words for', () => {
  const path = '/apis/ballast.dev/v1beta1/namespaces/default/metadatafeeds/expressive';
  const expressions = [{ key: 'tier', operator: 'Exists' }];
  const feed = {
    apiVersion: 'ballast.dev/v1beta1',
    kind: 'MetadataFeed',
    metadata: { name: 'expressive' },
    spec: {
      resources: [
        {
          group: 'example.com',
          version: 'v1',
          resource: 'widgets',
          selector: { matchLabels: { app: 'a' }, matchExpressions: expressions },
        },
      ],
    },
  };

  test('is refused as long as the function would not see it', async () => {
    await expect(applied(path, feed)).rejects.toThrow('expressions are not read in this release');
  });

  test('is kept in v1alpha1 once it is taken, and comes back after an edit there', async () => {
    await letExpressionsIn();
    await until('expressions to be taken', () =>
      applied(path, feed).then(
        () => true,
        () => false,
      ),
    );
    const name = { namespace: 'default', name: 'expressive' };
    const stored = await rig.kube.get(alpha('metadatafeeds'), name);
    if (stored === null) throw new Error('it is not there');
    expect(stored.metadata.annotations).toHaveProperty([annotationOf('v1beta1')]);
    const [item] = (stored['spec'] as { resources: object[] }).resources;
    const resources = [{ ...item, matchLabels: { app: 'b' } }];
    const patch = { type: 'merge', body: { spec: { resources } } } as const;
    await rig.kube.patch(alpha('metadatafeeds'), name, patch, {});
    const back = await read(path);
    expect(back.metadata.annotations).toBeUndefined();
    expect(back['spec']).toMatchObject({
      resources: [{ selector: { matchLabels: { app: 'b' }, matchExpressions: expressions } }],
    });
  });
});

/** As the step of the timeline does in which the function reads v1beta1. */
async function letExpressionsIn(): Promise<void> {
  const name = { name: 'metadatafeeds.ballast.dev' };
  const at =
    '/spec/versions/1/schema/openAPIV3Schema/properties/spec/properties/resources/items' +
    '/properties/selector/x-kubernetes-validations';
  await rig.kube.patch(CRDS, name, { type: 'json', body: [{ op: 'remove', path: at }] }, {});
}

test('the API server believes it by the authority that it wrote itself', async () => {
  const definitions = await rig.definitions();
  expect(definitions).toHaveLength(WHOLE_KINDS.length);
  for (const definition of definitions) {
    const managers = (definition.metadata.managedFields ?? []).filter(({ fieldsV1 }) =>
      JSON.stringify(fieldsV1).includes('"f:caBundle"'),
    );
    expect(managers.map(({ manager }) => manager)).toEqual(['ballast-conversion']);
    expect(webhookOf(definition)['caBundle']).toEqual(
      webhookOf(definitions[0] ?? definition)['caBundle'],
    );
  }
});

const COUNT = 400;
const one = (index: number) => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'StorageMigration',
  metadata: { name: `many-${String(index).padStart(3, '0')}` },
  spec: { resource: { group: 'many.example.com', resource: 'widgets' }, pause: index % 2 === 0 },
});

test('hundreds of objects are listed, by pages and all at once', async () => {
  for (let index = 0; index < COUNT; index += 1) {
    await rig.kube.create(STORAGE_MIGRATIONS, one(index), {});
  }
  const path = '/apis/ballast.dev/v1beta1/storagemigrations';
  for (const query of [{}, { limit: COUNT + 100 }, { resourceVersion: '0' }]) {
    const { text } = await rig.kube.raw({ method: 'GET', path, query, repeat: 'always' });
    const { items } = JSON.parse(text) as { readonly items: readonly KubeObject[] };
    const many = items.filter(({ metadata }) => metadata.name.startsWith('many-'));
    expect(
      many.map(({ apiVersion, spec }) => [apiVersion, (spec as { paused?: boolean }).paused]),
    ).toEqual(
      Array.from({ length: COUNT }, (_, index) => ['ballast.dev/v1beta1', index % 2 === 0]),
    );
  }
});

test('while it is away what is stored is read, and the rest says what is missing', async () => {
  await rig.goAway();
  const name = { name: 'many-000' };
  expect(await rig.kube.get(STORAGE_MIGRATIONS, name)).toMatchObject({ spec: { pause: true } });
  expect((await rig.kube.list(STORAGE_MIGRATIONS)).items.length).toBeGreaterThan(COUNT - 1);
  const patch = { type: 'merge', body: { spec: { pause: false } } } as const;
  await rig.kube.patch(STORAGE_MIGRATIONS, name, patch, {});
  const path = `/apis/ballast.dev/v1beta1/storagemigrations/${name.name}`;
  await expect(rig.kube.raw({ method: 'GET', path, repeat: 'unsent' })).rejects.toThrow(
    'conversion webhook for ballast.dev/v1alpha1, Kind=StorageMigration failed: ' +
      'Post "https://conversion.ballast-system.svc',
  );
  await rig.comeBack();
  await until('it to be read again', async () => {
    const again = await rig.kube.get(beta('storagemigrations'), name).catch(() => null);
    return again !== null && !(again['spec'] as { paused: boolean }).paused;
  });
});
