// managedFields that name a version which is not served, or not defined any more, on a real API
// server: they are cleaned before the first pass, nothing else is lost, and no object is ever
// without any.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { STORAGE_MIGRATIONS } from '../../../shared/api/storage-migration.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../../shared/kube/objects.ts';
import { revisionNow, storedSince } from '../../builders/etcd-values.ts';
import { GROUP, NAMESPACE, until } from '../../builders/versioned-kind.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { MigrationWorld } from './world.ts';

/** A schema that takes every field. */
const SCHEMA = {
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  },
};

/** `name`, and how the CRD has it. */
type Version = readonly [name: string, as: 'stored' | 'served' | 'unserved'];

/** Whatever is written is stored in v1 here, and in v1alpha1 there. */
const NEW: readonly Version[] = [
  ['v1alpha1', 'served'],
  ['v1', 'stored'],
];
const OLD: readonly Version[] = [
  ['v1alpha1', 'stored'],
  ['v1', 'served'],
];

let world: MigrationWorld;
let own: RunningFunction;
let jugs: Kind;
let kegs: Kind;

beforeAll(async () => {
  world = new MigrationWorld(sharedPlane());
  [jugs, kegs] = [new Kind('jugs'), new Kind('kegs')];
  await Promise.all([jugs.define(...NEW), kegs.define(...OLD)]);
  own = await world.startFunction();
  await Promise.all([jugs.fill(), kegs.fill()]);
});

afterAll(async () => {
  await world?.stop();
});

class Kind {
  readonly plural: string;
  readonly crdName: string;
  readonly #kind: string;

  constructor(plural: string) {
    this.plural = plural;
    this.crdName = `${plural}.${GROUP}`;
    this.#kind = `${plural.charAt(0).toUpperCase()}${plural.slice(1, -1)}`;
  }

  async define(...versions: readonly Version[]): Promise<void> {
    const { plural, crdName: name } = this;
    await world.kube.apply(
      CRDS,
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name },
        spec: {
          group: GROUP,
          scope: 'Namespaced',
          names: { plural, kind: this.#kind },
          versions: versions.map(([version, as]) => {
            const [served, storage] = [as !== 'unserved', as === 'stored'];
            return { name: version, served, storage, schema: SCHEMA };
          }),
        },
      },
      { force: true },
    );
    for (const [version, as] of versions) {
      await until(`${name} in ${version} to be ${as}`, async () => {
        return (await this.#isServed(version)) === (as !== 'unserved');
      });
    }
  }

  /** `old` was applied in the old version alone, `new` in the new one alone, `mixed` in both. */
  async fill(): Promise<void> {
    await Promise.all([
      this.apply('old', 'v1alpha1', 'ann'),
      this.apply('new', 'v1', 'bob'),
      this.apply('mixed', 'v1alpha1', 'ann').then(() => this.apply('mixed', 'v1', 'bob')),
    ]);
  }

  async apply(name: string, version: string, manager: string, value = 'red'): Promise<void> {
    const manifest = {
      apiVersion: `${GROUP}/${version}`,
      kind: this.#kind,
      metadata: { name, namespace: NAMESPACE },
      spec: { [manager]: value },
    };
    const options = { fieldManager: manager, force: false, isOnce: true };
    await world.kube.apply(this.ref(version), manifest, options);
  }

  ref = (version: string) => ({ group: GROUP, version, resource: this.plural });

  async read(name: string) {
    const found = await world.kube.get(this.ref('v1'), { name, namespace: NAMESPACE });
    return { spec: found?.['spec'], managedFields: found?.metadata.managedFields ?? [] };
  }

  /**
   * How many entries an object had after each write since. Etcd tells it: a watch ends some time
   * after the definition changed, and what was written until it goes on is one change to it.
   */
  async entriesSince(revision: number): Promise<readonly number[]> {
    return (await storedSince(sharedPlane(), GROUP, this.plural, revision)).map(entriesOf);
  }

  async #isServed(version: string): Promise<boolean> {
    try {
      await world.kube.list(this.ref(version), { limit: 1 });
      return true;
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return false;
      throw error;
    }
  }
}

const entriesOf = ({ metadata }: KubeObject): number => metadata.managedFields?.length ?? 0;

const byBob = (entries: readonly ManagedFieldsEntry[]): string =>
  JSON.stringify(entries.filter(({ manager }) => manager === 'bob'));

const SEED = { manager: 'ballast-storage-migration', operation: 'Update' };

test('a version that is not served any more is cleaned away, and can be removed then', async () => {
  await kegs.define(['v1alpha1', 'unserved'], ['v1', 'stored']);
  const since = await revisionNow(sharedPlane());
  const [fresh, mixed] = [await kegs.read('new'), await kegs.read('mixed')];
  const name = await world.migrate(kegs, { cleanManagedFields: true });
  await world.tickUntil(own, name, 'Done');

  expect(await world.status(name)).toMatchObject({
    cleaned: 2,
    trimmed: ['v1alpha1'],
    progress: { done: 3, failed: 0 },
  });
  expect(await kegs.read('new')).toEqual(fresh);
  const { managedFields } = await kegs.read('mixed');
  expect(JSON.stringify(managedFields)).toBe(byBob(mixed.managedFields));
  expect((await kegs.read('old')).managedFields).toMatchObject([SEED]);
  await kegs.define(['v1', 'stored']);
  for (const one of ['old', 'new', 'mixed']) await kegs.apply(one, 'v1', 'eve');
  // Nobody owns it any more, so whoever comes may set it.
  await kegs.apply('old', 'v1', 'ann', 'blue');
  expect((await kegs.read('old')).spec).toEqual({ ann: 'blue', eve: 'red' });
  const entries = await kegs.entriesSince(since);
  expect(entries.length).toBeGreaterThanOrEqual(2 + 4);
  expect(Math.min(...entries)).toBeGreaterThan(0);
});

test('a version that is gone stops the next migration, until it is cleaned away', async () => {
  await jugs.define(['v1', 'stored']);
  await until('applies to fail', async () => (await applyOf('old')).includes('invalid group'));
  await jugs.define(['v1', 'served'], ['v2', 'stored']);
  const since = await revisionNow(sharedPlane());
  const [fresh, mixed] = [await jugs.read('new'), await jugs.read('mixed')];
  // Without an object that can be written, the first look tells.
  await world.kube.delete(jugs.ref('v1'), { name: 'new', namespace: NAMESPACE }, ANY);
  const name = await world.migrate(jugs, { cleanManagedFields: false });
  await world.tickUntil(own, name, 'Blocked');
  expect(await world.condition(name, 'Blocked')).toMatch(
    /^ManagedFieldsStale: .* name v1alpha1, .*cleanManagedFields/,
  );
  await jugs.apply('new', 'v1', 'bob');

  const body = { spec: { cleanManagedFields: true } };
  await world.kube.patch(STORAGE_MIGRATIONS, { name }, { type: 'merge', body });
  await world.tickUntil(own, name, 'Done');
  expect(await world.status(name)).toMatchObject({ cleaned: 2, trimmed: ['v1'] });
  expect(await world.stored(jugs)).toEqual({ v2: 3 });
  expect((await jugs.read('new')).spec).toEqual(fresh.spec);
  expect(JSON.stringify((await jugs.read('mixed')).managedFields)).toBe(byBob(mixed.managedFields));
  for (const one of ['old', 'new', 'mixed']) expect(await applyOf(one)).toBe('');
  const entries = await jugs.entriesSince(since);
  expect(entries.length).toBeGreaterThanOrEqual(1 + 2 + 3);
  expect(Math.min(...entries)).toBeGreaterThan(0);
});

test('the five steps leave no managedFields that keep anybody from applying', async () => {
  const mugs = new Kind('mugs');
  await mugs.define(...OLD);
  await mugs.fill();
  await mugs.define(...NEW);
  const name = await world.migrate(mugs);
  await world.tickUntil(own, name, 'Done');
  // Its managers may still be at it.
  expect(await world.status(name)).toMatchObject({ cleaned: 0, trimmed: ['v1alpha1'] });
  await mugs.define(['v1alpha1', 'unserved'], ['v1', 'stored']);
  await world.tickUntil(own, name, 'Done', ({ cleaned }) => cleaned === 2);
  await mugs.define(['v1', 'stored']);
  for (const one of ['old', 'new', 'mixed']) await mugs.apply(one, 'v1', 'eve');
});

test('a kind without CRD has nothing to clean, and is migrated all the same', async () => {
  const name = 'configmaps';
  await world.kube.create(STORAGE_MIGRATIONS, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'StorageMigration',
    metadata: { name },
    spec: { resource: { resource: name }, cleanManagedFields: true },
  });
  await world.tickUntil(own, name, 'Done');
  expect(await world.condition(name, 'Proved')).toMatch(/^SecondPass: /);
});

const ANY = { precondition: 'none', because: 'nobody else is there' } as const;

/** The refusal of an apply; undefined when it is taken. */
async function applyOf(name: string): Promise<string> {
  try {
    await jugs.apply(name, 'v1', 'eve');
    return '';
  } catch (error) {
    if (isKubeError(error)) return error.message;
    throw error;
  }
}
