// A migration from the day it is asked for to the day the old version may go.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { MigrationWorld } from './world.ts';

let world: MigrationWorld;
let one: RunningFunction;

beforeAll(async () => {
  world = new MigrationWorld(sharedPlane());
  one = await world.startFunction();
});

afterAll(async () => {
  await world?.stop();
});

test('objects are rewritten, proved to be current, and the old version is trimmed', async () => {
  const kind = await world.kind('widgets', 120);
  expect(await world.stored(kind)).toEqual({ v1alpha1: 120 });
  const before = await kind.stored();
  const name = await world.migrate(kind);
  await world.tickUntil(one, name, 'Done');
  expect(await world.stored(kind)).toEqual({ v1: 120 });
  expect((await kind.read()).status.storedVersions).toEqual(['v1']);
  const status = await world.status(name);
  expect(status).toMatchObject({
    rewritten: 120,
    pass: 2,
    progress: { total: 120, done: 120, current: 120, changed: 0, failed: 0 },
    proof: { oracle: 'SecondPass', version: 'v1', objects: 120 },
    trimmed: ['v1alpha1'],
  });
  expect(status.worker).toBeUndefined();
  expect(await world.condition(name, 'Proved')).toContain('All 120 objects');
  for (const [key, object] of await kind.stored()) {
    expect(object['spec']).toEqual(before.get(key)?.['spec']);
    expect(object.metadata.managedFields).toEqual(before.get(key)?.metadata.managedFields);
  }
});
