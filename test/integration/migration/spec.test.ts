// Options of a migration's owner: a dry run, a pause, a budget, fields that may be lost; and forged
// events and leases, which change nothing.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { STORAGE_MIGRATIONS } from '../../../shared/api/storage-migration.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { GrownKind } from '../../builders/grown-kind.ts';
import { CURRENT, OLD, oldName, until } from '../../builders/versioned-kind.ts';
import { refuseUpdates } from './refusal.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { MigrationWorld } from './world.ts';

let world: MigrationWorld;
let one: RunningFunction;
/** Ends its requests after a few objects, so that there is a middle. */
let hasty: RunningFunction;

beforeAll(async () => {
  world = new MigrationWorld(sharedPlane());
  await world.prepare('anvils', 'bolts', 'clamps', 'drills', 'gears', 'hooks', 'irons');
  one = await world.startFunction({ SETTLE_SECONDS: '0' });
  hasty = await world.startFunction({ WORK_SECONDS: '0.1', SETTLE_SECONDS: '0' });
});

afterAll(async () => {
  await world?.stop();
});

const edit = (name: string, spec: object) =>
  world.kube.patch(STORAGE_MIGRATIONS, { name }, { type: 'merge', body: { spec } });

test('a dry run writes nothing, proves nothing, and says who would be refused', async () => {
  const kind = await world.kind('anvils', 3);
  await refuseUpdates(world.kube, kind, oldName(1));
  const before = await kind.stored();
  const name = await world.migrate(kind, { dryRun: true, trim: 'Never' });
  await world.tickUntil(one, name, 'Done');
  expect(await kind.stored()).toEqual(before);
  expect(await world.condition(name, 'Proved')).toBe('');
  const { conditions = [], failed } = await world.status(name);
  expect(conditions.find(({ type }) => type === 'Progressing')?.message).toBe(
    'A dry run: of 3 objects 1 would be refused; nothing was written.',
  );
  expect(failed).toHaveLength(1);
});

test('a pause stops it where it is; it goes on from there', async () => {
  const kind = await world.kind('bolts', 12);
  const name = await world.migrate(kind, { budget: { requestsPerSecond: 40 } });
  await world.tickUntil(hasty, name, 'Rewriting');
  await edit(name, { pause: true });
  await world.tick(hasty);
  const [paused, stored] = [await world.status(name), await world.stored(kind)];
  expect(paused.conditions?.find(({ type }) => type === 'Progressing')).toMatchObject({
    status: 'False',
    reason: 'Paused',
  });
  expect(paused.worker).toBeUndefined();
  await world.tick(hasty);
  expect(await world.stored(kind)).toEqual(stored);
  await edit(name, { pause: false });
  await world.tick(hasty);
  const after = await world.status(name);
  expect([after.pass, after.passStartedAt]).toEqual([1, paused.passStartedAt]);
  expect(after.progress?.done).toBeGreaterThan(paused.progress?.done ?? 12);
  await world.tickUntil(one, name, 'Done');
  expect(await world.stored(kind)).toEqual({ [CURRENT]: 12 });
});

test('no more writes a second than the budget allows', async () => {
  const kind = await world.kind('clamps', 10);
  const name = await world.migrate(kind, { budget: { requestsPerSecond: 20 } });
  const startedMs = performance.now();
  await world.tickUntil(one, name, 'Done');
  // Twenty writes, of which the first one of each look need not wait.
  expect(performance.now() - startedMs).toBeGreaterThan(850);
});

test('trim: Never proves, and leaves the list alone', async () => {
  const kind = await world.kind('drills', 3);
  const name = await world.migrate(kind, { trim: 'Never' });
  await world.tickUntil(one, name, 'Done');
  expect(await world.condition(name, 'Proved')).toContain('All 3 objects');
  expect((await kind.read()).status.storedVersions).toEqual([OLD, CURRENT]);
  // The list is no help any more: what was flipped and flipped back has to be looked at.
  await kind.flip(OLD);
  await kind.createMore(OLD, 'between');
  await kind.flip();
  expect(await world.stored(kind)).toEqual({ [OLD]: 1, [CURRENT]: 3 });
  await world.tickUntil(one, name, 'Done', ({ proof }) => proof?.objects === 4);
  expect(await world.stored(kind)).toEqual({ [CURRENT]: 4 });
});

const [ALPHA, V1] = [
  { name: OLD, fields: ['size', 'legacy'] },
  { name: CURRENT, fields: ['size'], isStored: true },
];

async function poorer(plural: string): Promise<GrownKind> {
  const kind = new GrownKind(world.plane, world.kube, plural);
  await kind.define({ ...ALPHA, isStored: true }, { ...V1, isStored: false });
  await kind.create(OLD, 'plain', { spec: { size: '1' } });
  await kind.create(OLD, 'rich', { spec: { size: '1', legacy: 'kept' } });
  return kind;
}

test('a field that would be pruned is said before anything is written', async () => {
  const kind = await poorer('engines');
  await kind.define(ALPHA, V1);
  const before = await kind.stored();
  const name = await world.migrate(kind);
  await world.tickUntil(one, name, 'Blocked');
  expect(await world.condition(name, 'Blocked')).toBe(
    'FieldsWouldBeLost: 1 objects, such as default/rich, would lose .spec.legacy, for which v1 ' +
      `of CRD ${kind.crdName} has no place. Add the fields to its schema, or name them in ` +
      'spec.acceptedLoss.',
  );
  expect(await kind.stored()).toEqual(before);
  await edit(name, { acceptedLoss: ['.spec.legacy'] });
  await world.tickUntil(one, name, 'Done');
  expect((await kind.stored()).get('default/rich')?.['spec']).toEqual({ size: '1' });
});

test('and where nobody can look, what may be there', async () => {
  const kind = await poorer('files');
  await kind.define({ ...ALPHA, isServed: false }, V1);
  const name = await world.migrate(kind);
  await world.tickUntil(one, name, 'Blocked');
  const blocked = await world.condition(name, 'Blocked');
  expect(blocked).toContain('Objects may have .spec.legacy, for which v1 of CRD');
  expect(blocked).toContain(`${OLD} is not served, so nobody can look.`);
  // A place for it is as good as a word that it may go.
  await kind.define({ ...ALPHA, isServed: false }, { ...V1, fields: ALPHA.fields });
  await world.tickUntil(one, name, 'Done');
  const rich = (await kind.stored()).get('default/rich');
  expect(rich?.['spec']).toEqual({ size: '1', legacy: 'kept' });
});

test('two instances, and events that are forged, doubled and late, do no harm', async () => {
  const kind = await world.kind('gears', 30);
  const two = await world.startFunction({ SETTLE_SECONDS: '0' });
  const name = await world.migrate(kind);
  const forged = [
    world.event(one, 'StorageMigration', 'nobody'),
    world.event(one, 'CustomResourceDefinition', 'nothings.example.com'),
    world.event(one, 'Secret', name),
  ];
  const doubled = [one, two, one, two].flatMap((instance) => [
    world.event(instance, 'StorageMigration', name),
    world.event(instance, 'CustomResourceDefinition', kind.crdName),
    world.tick(instance),
  ]);
  for (const answer of await Promise.all([...forged, ...doubled])) expect(answer).toMatch(/^204 /);
  expect(await world.event(one, 'StorageMigration', '../../odd name')).toMatch(/^422 /);
  await world.tickUntil(two, name, 'Done');
  expect(await world.stored(kind)).toEqual({ [CURRENT]: 30 });
  expect(await world.status(name)).toMatchObject({
    rewritten: 30,
    pass: 2,
    proof: { objects: 30 },
  });
  expect(await world.eventsOn(kind)).toHaveLength(1);
});

/** As another instance of the function would say that it is at it. */
const lease = (name: string, end: string) =>
  world.kube.apply(
    STORAGE_MIGRATIONS,
    {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'StorageMigration',
      metadata: { name },
      status: { worker: { id: 'another', until: end } },
    },
    { subresource: 'status', fieldManager: 'ballast-storage-migration', force: true },
  );

test('whoever is at it is left alone for as long as he may be, and not for ever', async () => {
  const kind = await world.kind('hooks', 2);
  const name = await world.migrate(kind);
  await lease(name, new Date(Date.now() + 20_000).toISOString());
  await world.tick(one);
  expect((await world.status(name)).phase).toBeUndefined();
  await lease(name, '2999-01-01T00:00:00Z');
  await world.tickUntil(one, name, 'Done');
  // By hand, which leaves an owner behind of what is taken back.
  const worker = { id: 'somebody', until: '2999-01-01T00:00:00Z' };
  const target = { name, subresource: 'status' };
  const body = { status: { worker, phase: 'Rewriting' } };
  await world.kube.patch(STORAGE_MIGRATIONS, target, { type: 'merge', body });
  await world.tickUntil(one, name, 'Done');
  expect((await world.status(name)).worker).toBeUndefined();
  expect(await world.stored(kind)).toEqual({ [CURRENT]: 2 });
});

test('a migration that is deleted under way is no failure', async () => {
  const kind = await world.kind('irons', 12);
  const name = await world.migrate(kind, { budget: { requestsPerSecond: 10 } });
  const underWay = world.tick(one);
  const anyway = { precondition: 'none', because: 'the test made it' } as const;
  await until('some to be written', async () => 'v1' in (await world.stored(kind)));
  await world.kube.delete(STORAGE_MIGRATIONS, { name }, anyway);
  expect(await underWay).toMatch(/^204 /);
  expect((await kind.read()).status.storedVersions).toEqual([OLD, CURRENT]);
});
