// The steps of the timeline as kubectl renders them: each changes what it says and nothing else,
// and the API server takes one after the other as `kubectl apply -k` sends it.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { rightsOf } from '../../../shared/api/migration-rights.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';

const REPO = fileURLToPath(new URL('../../..', import.meta.url));
const MEGABYTES = 1_000_000;
const FORMER = 'knative/crds';
const STEPS = ['1-served', '2-stored', '3-deprecated', '4-unserved', '5-removed'].map(
  (step) => `knative/overlays/timeline/${step}`,
);
const [SERVED = '', STORED = '', DEPRECATED = '', UNSERVED = '', REMOVED = ''] = STEPS;

interface Definition extends Manifest {
  readonly spec: {
    readonly names: { readonly plural: string };
    readonly versions: readonly Readonly<Record<string, unknown>>[];
    readonly conversion?: object;
  };
}
const rendered = new Map<string, readonly Manifest[]>();

beforeAll(async () => {
  for (const dir of [FORMER, ...STEPS, 'knative/overlays/conversion']) {
    const documents = [...parseAllDocuments(await kubectl('kustomize', dir))];
    rendered.set(
      dir,
      documents.map((document) => document.toJS() as Manifest),
    );
  }
});

async function kubectl(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, KUBECONFIG: sharedPlane().kubeconfigPath };
  const options = { cwd: REPO, env, maxBuffer: 10 * MEGABYTES };
  return (await promisify(execFile)(await resolvePart('kubectl'), args, options)).stdout;
}

const isDefinition = (object: Manifest): object is Definition =>
  object.kind === 'CustomResourceDefinition';
const objectsOf = (dir: string): readonly Manifest[] => rendered.get(dir) ?? [];
const definitionsOf = (dir: string): readonly Definition[] => objectsOf(dir).filter(isDefinition);
const othersOf = (dir: string): readonly Manifest[] =>
  objectsOf(dir).filter((object) => !isDefinition(object));

/** The definitions of a step, when its versions differ so from those of another step. */
const changed = (
  dir: string,
  alpha: object,
  beta: object,
  metadata: object = {},
): readonly object[] =>
  definitionsOf(dir).map((definition) => {
    const [first, second] = definition.spec.versions;
    const versions = [
      { ...first, ...alpha },
      { ...second, ...beta },
    ];
    return {
      ...definition,
      metadata: { ...definition.metadata, ...metadata },
      spec: { ...definition.spec, versions },
    };
  });

test('the first adds a version that is served, and who converts', () => {
  const now = definitionsOf(SERVED);
  expect(now.map(({ spec }) => spec.versions.map(({ name }) => name))).toEqual(
    now.map(() => ['v1alpha1', 'v1beta1']),
  );
  expect(now.map(({ spec }) => spec.versions[1])).toMatchObject(
    now.map(() => ({ served: true, storage: false })),
  );
  const clientConfig = {
    service: { namespace: 'ballast-system', name: 'conversion', path: '/convert', port: 443 },
  };
  const webhook = { conversionReviewVersions: ['v1'], clientConfig };
  const former = definitionsOf(FORMER).map(({ spec, ...rest }, index) => {
    const versions = [...spec.versions, now[index]?.spec.versions[1]];
    return { ...rest, spec: { ...spec, versions, conversion: { strategy: 'Webhook', webhook } } };
  });
  expect(now).toEqual(former);
  expect(othersOf(SERVED)).toEqual(objectsOf('knative/overlays/conversion'));
});

test('the second stores the other version and asks for the migration, with its rights', () => {
  const metadata = { annotations: { 'ballast.dev/migrate-storage': 'true' } };
  const wanted = changed(SERVED, { storage: false }, { storage: true }, metadata);
  expect(definitionsOf(STORED)).toEqual(wanted);
  const before = new Set(othersOf(SERVED).map((object) => JSON.stringify(object)));
  const added = othersOf(STORED).filter((object) => !before.delete(JSON.stringify(object)));
  expect(before.size).toBe(0);
  expect(added.map(({ kind }) => kind)).toEqual(['ClusterRole', 'ClusterRoleBinding']);
  const [role, binding] = added;
  expect(binding).toMatchObject({
    roleRef: { kind: 'ClusterRole', name: role?.metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: 'storage-migration', namespace: 'ballast-system' }],
  });
  expect(flat(role?.['rules'] as readonly Rule[])).toEqual(neededRights());
});

test('the third warns whoever asks in v1alpha1, and changes nothing else', () => {
  const deprecationWarning =
    'ballast.dev/v1alpha1 is deprecated, and will be removed; use ballast.dev/v1beta1 ' +
    '(docs/upgrading.md)';
  expect(definitionsOf(DEPRECATED)).toEqual(
    changed(STORED, { deprecated: true, deprecationWarning }, {}),
  );
  expect(othersOf(DEPRECATED)).toEqual(othersOf(STORED));
});

test('the fourth serves v1alpha1 no more, and changes nothing else', () => {
  expect(definitionsOf(UNSERVED)).toEqual(changed(DEPRECATED, { served: false }, {}));
  expect(othersOf(UNSERVED)).toEqual(othersOf(DEPRECATED));
});

test('the fifth has no v1alpha1, and changes nothing else', () => {
  const wanted = definitionsOf(UNSERVED).map((definition) => {
    const versions = definition.spec.versions.filter(({ name }) => name === 'v1beta1');
    return { ...definition, spec: { ...definition.spec, versions } };
  });
  expect(definitionsOf(REMOVED)).toEqual(wanted);
  expect(othersOf(REMOVED)).toEqual(othersOf(UNSERVED));
});

test('the component of the fourth has each source ask in v1beta1, and no more', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'ballast-sources-'));
  const sources = async (components: readonly string[]): Promise<string> => {
    const [resource, ...others] = ['knative', ...components].map((one) =>
      relative(dir, join(REPO, one)),
    );
    const kustomization = { resources: [resource], components: others };
    await writeFile(join(dir, 'kustomization.yaml'), JSON.stringify(kustomization));
    return kubectl('kustomize', dir);
  };
  try {
    const before = await sources([]);
    const after = await sources([`${UNSERVED}/sources`]);
    const asked = /^ {2}- apiVersion: ballast\.dev\/v1alpha1$/gm;
    expect(before.match(asked)).toHaveLength(10);
    expect(after).toBe(before.replaceAll(asked, '  - apiVersion: ballast.dev/v1beta1'));
  } finally {
    await rm(dir, { recursive: true });
  }
});

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const right = (group: string, resource: string, name = '', verbs: readonly string[] = []): string =>
  `${verbs.join()} ${resource}.${group} ${name}`;

const flat = (rules: readonly Rule[]): readonly string[] =>
  rules
    .flatMap(({ apiGroups, resources, resourceNames = [''], verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          resourceNames.map((name) => right(group, resource, name, verbs)),
        ),
      ),
    )
    .toSorted();

/** As `npm run migrate -- --rights` prints them for each kind. */
const neededRights = (): readonly string[] =>
  definitionsOf(FORMER)
    .flatMap(({ metadata, spec }) =>
      rightsOf({
        group: 'ballast.dev',
        resource: spec.names.plural,
        mode: 'Ballast',
        crdName: metadata.name,
      }),
    )
    .map(({ group, resource, subresource, name, verbs }) =>
      right(group, [resource, subresource].filter(Boolean).join('/'), name, verbs),
    )
    .toSorted();

/** The fifth is refused before, for each definition, and this is what storage-migration does. */
async function trimAsOnProof(): Promise<void> {
  const names = definitionsOf(REMOVED).map(({ metadata }) => metadata.name);
  const refused = await kubectl('apply', '-k', REMOVED).catch((error: Error) => error.message);
  const reason = /must remain in spec\.versions until a storage migration ensures no data remains/g;
  expect(refused.match(reason)).toHaveLength(names.length);
  const body = JSON.stringify({ status: { storedVersions: ['v1beta1'] } });
  for (const name of names) {
    await kubectl('patch', 'crd', name, '--subresource=status', '--type=merge', '-p', body);
  }
}

test('the API server takes each over the one before, as it is sent to it', async () => {
  await kubectl('create', 'namespace', 'ballast-system');
  for (const dir of [FORMER, ...STEPS]) {
    if (dir === REMOVED) await trimAsOnProof();
    const said = await kubectl('apply', '--validate=strict', '-k', dir);
    const lines = said.trim().split('\n');
    expect(lines).toHaveLength(objectsOf(dir).length);
    expect(lines.filter((line) => !/ (created|configured|unchanged)$/.test(line))).toEqual([]);
  }
});
