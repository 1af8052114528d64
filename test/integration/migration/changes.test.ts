// The definition changes while its objects are migrated: what was found under the one before counts
// for nothing, and no version leaves the list, or the definition, unseen.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { GrownKind } from '../../builders/grown-kind.ts';
import { CURRENT, OLD, oldName, type VersionedKind } from '../../builders/versioned-kind.ts';
import { allowUpdates, refuseUpdates } from './refusal.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { MigrationWorld } from './world.ts';
import { CRDS } from '../../../shared/kube/crds.ts';

let world: MigrationWorld;
let one: RunningFunction;
/** Ends its requests after a few objects, so that there is a middle. */
let hasty: RunningFunction;
const SLOWLY = { budget: { requestsPerSecond: 40 } };

beforeAll(async () => {
  world = new MigrationWorld(sharedPlane());
  await world.prepare('engines', 'anvils', 'bolts', 'clamps', 'drills');
  one = await world.startFunction();
  hasty = await world.startFunction({ WORK_SECONDS: '0.1', SETTLE_SECONDS: '0' });
});

afterAll(async () => {
  await world?.stop();
});

/** Some objects are written, and some are not. */
async function begin(plural: string): Promise<VersionedKind> {
  const kind = await world.kind(plural, 12);
  await world.migrate(kind, SLOWLY);
  await world.tickUntil(hasty, kind.crdName, 'Rewriting');
  const { [OLD]: left = 0, [CURRENT]: written = 0 } = await world.stored(kind);
  expect([left > 0, left + written]).toEqual([true, 12]);
  return kind;
}

const listed = async (kind: VersionedKind) => (await kind.read()).status.storedVersions;

/** The API server lets anybody do this who may write the status. */
const trimByHand = ({ crdName: name }: VersionedKind) =>
  world.kube.patch(
    CRDS,
    { name, subresource: 'status' },
    { type: 'merge', body: { status: { storedVersions: [CURRENT] } } },
  );

test('the stored version is flipped back: it turns round', async () => {
  const kind = await begin('anvils');
  await kind.flip(OLD);
  await world.tickUntil(one, kind.crdName, 'Done');
  expect(await world.stored(kind)).toEqual({ [OLD]: 12 });
  expect(await listed(kind)).toEqual([OLD]);
  expect(await world.status(kind.crdName)).toMatchObject({ proof: { version: OLD, objects: 12 } });
});

test('the definition is edited: it begins anew', async () => {
  const kind = await begin('bolts');
  const before = await world.status(kind.crdName);
  const body = { spec: { names: { shortNames: ['bt'] } } };
  await world.kube.patch(CRDS, { name: kind.crdName }, { type: 'merge', body });
  await world.tick(hasty);
  const after = await world.status(kind.crdName);
  expect(after.target?.crdGeneration).toBe((before.target?.crdGeneration ?? 0) + 1);
  await world.tickUntil(one, kind.crdName, 'Done');
  expect(await world.stored(kind)).toEqual({ [CURRENT]: 12 });
});

test('a version is taken off the list by hand: it is put back until it is proved', async () => {
  const kind = await begin('clamps');
  await trimByHand(kind);
  await world.tick(hasty);
  expect(await listed(kind)).toEqual([OLD, CURRENT]);
  expect(await world.status(kind.crdName)).toMatchObject({ restored: [OLD] });
  await world.tickUntil(one, kind.crdName, 'Done');
  expect(await listed(kind)).toEqual([CURRENT]);
});

test('the version is removed too: it says what to add, and goes on after that', async () => {
  const kind = await begin('drills');
  await trimByHand(kind);
  await kind.remove(OLD);
  await world.tickUntil(one, kind.crdName, 'Blocked');
  expect(await world.condition(kind.crdName, 'Blocked')).toContain(
    `VersionRemoved: ${OLD} is gone from CRD ${kind.crdName}, and objects may still be stored`,
  );
  expect(await world.condition(kind.crdName, 'Proved')).toBe('');
  await kind.define(CURRENT);
  await world.tickUntil(one, kind.crdName, 'Done');
  expect(await world.stored(kind)).toEqual({ [CURRENT]: 12 });
});

test('asked for after a version was removed: it says that nobody can read objects', async () => {
  const kind = await world.kind('engines', 2);
  await trimByHand(kind);
  await kind.remove(OLD);
  await kind.becomesUnreadable();
  await world.migrate(kind);
  await world.tickUntil(one, kind.crdName, 'Blocked');
  expect(await world.condition(kind.crdName, 'Blocked')).toContain(
    `ObjectsUnreadable: The API server cannot list CRD ${kind.crdName}`,
  );
  await kind.define(CURRENT);
  await world.tickUntil(one, kind.crdName, 'Done');
  expect(await world.stored(kind)).toEqual({ [CURRENT]: 2 });
});

test('four generations: a version is added, stored, the old one unserved and removed', async () => {
  const kind = new GrownKind(world.plane, world.kube, 'files');
  const [alpha, beta] = [{ name: 'v1alpha1' }, { name: 'v1beta1' }];
  await kind.define({ ...alpha, isStored: true });
  const kept = oldName(2);
  for (const index of [0, 1, 2]) await kind.create('v1alpha1', oldName(index));
  await kind.define({ ...alpha, isStored: true }, beta);
  await world.migrate(kind);
  await world.tickUntil(one, kind.crdName, 'Done');
  expect(await world.status(kind.crdName)).toMatchObject({ rewritten: 0, storedVersions: [OLD] });
  await kind.define(alpha, { ...beta, isStored: true });
  await refuseUpdates(world.kube, kind, kept);
  await world.tickUntil(one, kind.crdName, 'Blocked');
  // An object is left behind, so the old version may be unserved and not be removed.
  expect(await world.condition(kind.crdName, 'Blocked')).toContain(`such as default/${kept}`);
  await expect(kind.define({ ...beta, isStored: true })).rejects.toThrow('storedVersions[0]');
  await allowUpdates(world.kube, kind, kept);
  await kind.define({ ...alpha, isServed: false }, { ...beta, isStored: true });
  await world.tickUntil(one, kind.crdName, 'Done');
  expect(await kind.storedVersions()).toEqual(['v1beta1']);
  await kind.define({ ...beta, isStored: true });
  const { items } = await world.kube.list(kind.ref('v1beta1'));
  expect(items).toHaveLength(3);
  await world.tick(one);
  expect(await world.status(kind.crdName)).toMatchObject({ phase: 'Done' });
});
