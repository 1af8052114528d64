// Whatever an object is, it comes through whole: with status and scale, finalizers, in a namespace
// on its way out, of more than a megabyte, cluster-scoped, with dots in its name, or built in.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { STORAGE_MIGRATIONS } from '../../../shared/api/storage-migration.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { GrownKind, type KindShape } from '../../builders/grown-kind.ts';
import { CURRENT, OLD, until } from '../../builders/versioned-kind.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { MigrationWorld } from './world.ts';

const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' } as const;
const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' } as const;
const ANYWAY = { precondition: 'none', because: 'the test made it' } as const;

let world: MigrationWorld;
let one: RunningFunction;

beforeAll(async () => {
  world = new MigrationWorld(sharedPlane());
  await defineAll();
  one = await world.startFunction({ SETTLE_SECONDS: '0' });
});

afterAll(async () => {
  await world?.stop();
});

const [ALPHA, V1] = [{ name: OLD }, { name: CURRENT }];

const SCALE = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
const SHAPES: Readonly<Record<string, KindShape>> = {
  anvils: { subresources: { status: {}, scale: SCALE } },
  bolts: {},
  clamps: {},
  drills: {},
  engines: { scope: 'Cluster' },
  files: {},
  hooks: {},
  irons: {},
  gears: { annotations: { 'ballast.dev/migrate-storage': 'true' } },
};
/** All at once: for its first two seconds the API server lets nobody create an object of a kind. */
const kinds = new Map<string, GrownKind>();

async function defineAll(): Promise<void> {
  for (const [plural, shape] of Object.entries(SHAPES)) {
    kinds.set(plural, new GrownKind(world.plane, world.kube, plural, shape));
  }
  const define = (kind: GrownKind) => kind.define({ ...ALPHA, isStored: true }, V1);
  await Promise.all([...kinds.values()].map(define));
}

/** Stored in the old version; `flip` makes the new one current. */
function oldKind(plural: string): GrownKind {
  const kind = kinds.get(plural);
  if (kind === undefined) throw new Error(`there is no kind ${plural}`);
  return kind;
}

const flip = (kind: GrownKind): Promise<void> => kind.define(ALPHA, { ...V1, isStored: true });

/** Every object is stored as it was, but for the version. */
async function expectMigrated(kind: GrownKind): Promise<void> {
  await flip(kind);
  const before = await kind.stored();
  const name = await world.migrate(kind);
  await world.tickUntil(one, name, 'Done');
  const { rewritten, failed } = await world.status(name);
  expect([rewritten, failed]).toEqual([before.size, undefined]);
  const after = await kind.stored();
  expect([...after.keys()]).toEqual([...before.keys()]);
  for (const [key, { apiVersion, metadata, ...rest }] of after) {
    const { apiVersion: _old, metadata: was, ...same } = before.get(key) ?? { metadata: undefined };
    expect(apiVersion).toContain(`/${CURRENT}`);
    expect(rest).toEqual(same);
    expect(metadata).toEqual(was);
  }
}

test('status and scale are kept, and are no change of the spec', async () => {
  const kind = oldKind('anvils');
  await kind.create(OLD, 'scaled', { spec: { replicas: 3 } });
  const target = { namespace: 'default', name: 'scaled', subresource: 'status' };
  const body = { status: { replicas: 2, conditions: [{ type: 'Ready', status: 'True' }] } };
  await world.kube.patch(kind.ref(OLD), target, { type: 'merge', body });
  await expectMigrated(kind);
  const object = (await kind.stored()).get('default/scaled');
  expect(object).toMatchObject({ ...body, metadata: { generation: 1 } });
});

test('objects on their way out, held by finalizers, stay on their way', async () => {
  const kind = oldKind('bolts');
  await kind.create(OLD, 'held', { metadata: { finalizers: ['example.com/hold'] } });
  await world.kube.delete(kind.ref(OLD), { namespace: 'default', name: 'held' }, ANYWAY);
  await expectMigrated(kind);
  const held = (await kind.stored()).get('default/held');
  expect(held?.metadata.deletionTimestamp).toBeDefined();
});

test('objects in a namespace on its way out are rewritten', async () => {
  const kind = oldKind('clamps');
  const manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'leaving' } };
  await world.kube.create(NAMESPACES, manifest);
  await kind.create(OLD, 'left', { metadata: { namespace: 'leaving' } });
  await kind.create(OLD, 'kept');
  await world.kube.delete(NAMESPACES, { name: 'leaving' }, ANYWAY);
  await expectMigrated(kind);
  expect(await kind.storedVersions()).toEqual([CURRENT]);
});

test('objects of more than a megabyte, and names with dots', async () => {
  const kind = oldKind('drills');
  await kind.create(OLD, 'large', { spec: { payload: 'x'.repeat(1_300_000) } });
  await kind.create(OLD, 'a.name.with.dots', { spec: { size: 1 } });
  await expectMigrated(kind);
  expect(await kind.storedVersions()).toEqual([CURRENT]);
});

test('a cluster-scoped kind', async () => {
  const kind = oldKind('engines');
  await kind.create(OLD, 'whole.cluster', { spec: { size: 1 } });
  await kind.create(OLD, 'wide', { spec: { size: 2 } });
  await expectMigrated(kind);
  expect(await kind.storedVersions()).toEqual([CURRENT]);
});

test('a kind of which the stored version is not served', async () => {
  const kind = oldKind('hooks');
  await kind.create(OLD, 'hidden', { spec: { size: 1 } });
  await kind.define(ALPHA, { ...V1, isStored: true, isServed: false });
  const name = await world.migrate(kind);
  await world.tickUntil(one, name, 'Done');
  expect(await world.stored(kind)).toEqual({ [CURRENT]: 1 });
  expect(await kind.storedVersions()).toEqual([CURRENT]);
});

test('a kind of which no version is served: it says so, and goes on when one is', async () => {
  const kind = oldKind('irons');
  await kind.create(OLD, 'hidden', { spec: { size: 1 } });
  await kind.define({ ...ALPHA, isServed: false }, { ...V1, isStored: true, isServed: false });
  const name = await world.migrate(kind);
  await world.tickUntil(one, name, 'Blocked');
  expect(await world.condition(name, 'Blocked')).toContain(
    `ResourceUnknown: CRD ${kind.crdName} serves no version`,
  );
  await flip(kind);
  await world.tickUntil(one, name, 'Done');
  expect(await world.stored(kind)).toEqual({ [CURRENT]: 1 });
});

test('a kind without objects', async () => {
  const kind = oldKind('files');
  await expectMigrated(kind);
  expect(await kind.storedVersions()).toEqual([CURRENT]);
});

test('a built-in kind: there is a proof, and no list to trim', async () => {
  const name = 'config-maps';
  await world.kube.create(STORAGE_MIGRATIONS, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'StorageMigration',
    metadata: { name },
    spec: { resource: { resource: 'configmaps' } },
  });
  const { items } = await world.kube.list(CONFIG_MAPS);
  await world.tickUntil(one, name, 'Done');
  const status = await world.status(name);
  expect(status.proof).toMatchObject({ version: 'v1', objects: items.length });
  expect(status).not.toHaveProperty('storedVersions');
  expect(await world.condition(name, 'Proved')).toContain('SecondPass');
});

test('a definition asks for its migration, whenever it needs one', async () => {
  const kind = oldKind('gears');
  await kind.create(OLD, 'first');
  await world.tick(one);
  expect(await world.kube.get(STORAGE_MIGRATIONS, { name: kind.crdName })).toBeNull();
  await flip(kind);
  await world.event(one, 'CustomResourceDefinition', kind.crdName);
  await until('the migration to be done', async () => {
    await world.tick(one);
    return (await world.status(kind.crdName)).phase === 'Done';
  });
  expect(await world.stored(kind)).toEqual({ [CURRENT]: 1 });
  await kind.define({ ...ALPHA, isStored: true }, V1);
  await world.tickUntil(one, kind.crdName, 'Done', ({ proof }) => proof?.version === OLD);
  expect(await world.stored(kind)).toEqual({ [OLD]: 1 });
});
