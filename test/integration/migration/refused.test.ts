// Objects that somebody refuses to let be written: the rest is rewritten, the old version stays
// listed, and nothing is called proved until they are written too.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { CURRENT, OLD, oldName, type VersionedKind } from '../../builders/versioned-kind.ts';
import { refuseAs } from './admission-webhook.ts';
import { allowUpdates, refuseUpdates } from './refusal.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { MigrationWorld } from './world.ts';

let world: MigrationWorld;
let one: RunningFunction;

beforeAll(async () => {
  world = new MigrationWorld(sharedPlane());
  await world.prepare('gadgets', 'gizmos', 'relics');
  one = await world.startFunction();
});

afterAll(async () => {
  await world?.stop();
});

const refused = oldName(1);

async function expectOneLeft(kind: VersionedKind, count: number): Promise<void> {
  const name = kind.crdName;
  expect(await world.stored(kind)).toEqual({ [OLD]: 1, [CURRENT]: count - 1 });
  expect((await kind.stored()).get(refused)?.apiVersion).toContain(OLD);
  expect((await kind.read()).status.storedVersions).toEqual([OLD, CURRENT]);
  expect(await world.condition(name, 'Proved')).toBe('');
  const blocked = await world.condition(name, 'Blocked');
  expect(blocked).toContain(
    `ObjectsFailed: 1 objects cannot be written, such as default/${refused}`,
  );
  expect((await world.status(name)).failed).toEqual([
    expect.objectContaining({ namespace: 'default', name: refused }),
  ]);
}

async function expectDone(kind: VersionedKind, count: number): Promise<void> {
  await world.tickUntil(one, kind.crdName, 'Done');
  expect(await world.stored(kind)).toEqual({ [CURRENT]: count });
  expect((await kind.read()).status.storedVersions).toEqual([CURRENT]);
  expect(await world.condition(kind.crdName, 'Blocked')).toBe('');
}

test('a policy denies one object: the rest goes on, and later it does as well', async () => {
  const kind = await world.kind('gadgets', 6);
  await refuseUpdates(world.kube, kind, refused);
  await world.migrate(kind, { retries: 1 });
  await world.tickUntil(one, kind.crdName, 'Blocked');
  await expectOneLeft(kind, 6);
  expect((await world.status(kind.crdName)).failed?.[0]?.message).toContain('may not change.');
  // As long as it is listed the API server holds on to it.
  await expect(kind.remove(OLD)).rejects.toThrow('storedVersions[0]');
  await world.tick(one);
  await expectOneLeft(kind, 6);
  await allowUpdates(world.kube, kind, refused);
  await expectDone(kind, 6);
});

test.each([
  ['a conflict', 'gizmos', { code: 409, reason: 'Conflict' }],
  ['that it is not there', 'relics', { code: 404, reason: 'NotFound' }],
])('a webhook denies one object and calls it %s: it is no success', async (_what, plural, says) => {
  const kind = await world.kind(plural, 3);
  const allow = await refuseAs(world.plane, world.kube, kind, { name: refused, ...says });
  await world.migrate(kind, { retries: 0 });
  await world.tickUntil(one, kind.crdName, 'Blocked');
  await expectOneLeft(kind, 3);
  expect((await world.status(kind.crdName)).progress).toMatchObject({ conflicts: 0, gone: 0 });
  await allow();
  await expectDone(kind, 3);
});
