// A write that began before the stored version was changed, and ends long after: it stores the old
// version. No proof may be made before every such write must have ended.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crdOf } from '../../../functions/storage-migration/observe.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { CURRENT, OLD, VersionedKind } from '../../builders/versioned-kind.ts';
import { type Held, holdCreation } from './admission-webhook.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { MigrationWorld } from './world.ts';

let world: MigrationWorld;
let one: RunningFunction;
let held: Held;

beforeAll(async () => {
  world = new MigrationWorld(sharedPlane());
  await world.prepare('anvils');
  one = await world.startFunction({ WORK_SECONDS: '1', LONGEST_WRITE_SECONDS: '4' });
});

afterAll(async () => {
  held?.release();
  await held?.end();
  await world?.stop();
});

test('an object that is being made since before the flip is waited for', async () => {
  const kind = new VersionedKind(world.plane, world.kube, 'anvils');
  await kind.createOld(3);
  held = await holdCreation(world.plane, world.kube, kind, 'late');
  const late = kind.createMore(OLD, 'late');
  await held.begun;
  const defined = crdOf(await kind.read());
  await kind.flip();
  // Seen in what the API server itself notes of the definition.
  const flipped = crdOf(await kind.read());
  expect(Date.parse(flipped.changedAt ?? '')).toBeGreaterThan(Date.parse(defined.changedAt ?? ''));
  const name = await world.migrate(kind);
  await world.tickUntil(one, name, 'Verifying');
  expect(await world.stored(kind)).toEqual({ [CURRENT]: 3 });
  const { progress, writesEndAt, conditions = [] } = await world.status(name);
  expect(progress?.done).toBe(0);
  expect(conditions.map(({ message }) => message).join(' ')).toContain(`until ${writesEndAt}`);
  held.release();
  await late;
  expect(await world.stored(kind)).toEqual({ [CURRENT]: 3, [OLD]: 1 });
  await world.tickUntil(one, name, 'Done');
  expect(await world.stored(kind)).toEqual({ [CURRENT]: 4 });
  expect(await world.status(name)).toMatchObject({ proof: { objects: 4 }, rewritten: 4, pass: 3 });
  expect((await kind.read()).status.storedVersions).toEqual([CURRENT]);
});
