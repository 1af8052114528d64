// What Kubernetes' own migrator does, as far as we stand beside it: it migrates, and it trims
// storedVersions also when it failed. What of that we notice is put back.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { CURRENT, GROUP, OLD, oldName, type VersionedKind } from '../../builders/versioned-kind.ts';
import { addInTreeMigrator, migrateInTree, startInTreePlane, trimWrongly } from './in-tree.ts';
import { allowUpdates, refuseUpdates } from './refusal.ts';
import { MigrationWorld } from './world.ts';

let world: MigrationWorld;
let kube: KubeClient;
let ours: RunningFunction;
let willing: VersionedKind;
let refusing: VersionedKind;
let watched: VersionedKind;

beforeAll(async () => {
  const plane = await startInTreePlane();
  world = new MigrationWorld(plane);
  ({ kube } = world);
  await world.prepare('gadgets', 'gizmos', 'relics');
  willing = await world.kind('gadgets', 5);
  refusing = await world.kind('gizmos', 5);
  watched = await world.kind('relics', 5);
  await addInTreeMigrator(plane);
  ours = await world.startFunction();
});

afterAll(async () => {
  await world?.stop();
});

const count = (kind: VersionedKind) => world.stored(kind);
const listed = async (kind: VersionedKind) => (await kind.read()).status.storedVersions;

test('it rewrites what is stored in the old version and trims storedVersions', async () => {
  expect(await listed(willing)).toEqual([OLD, CURRENT]);
  expect(await count(willing)).toEqual({ [OLD]: 5 });
  expect(await migrateInTree(kube, willing)).toMatchObject({ result: 'Succeeded' });
  expect(await count(willing)).toEqual({ [CURRENT]: 5 });
  expect(await listed(willing)).toEqual([CURRENT]);
});

test('it trims storedVersions though it failed, and old values are left behind', async () => {
  expect(await count(refusing)).toEqual({ [OLD]: 5 });
  const { result, message, refused } = await trimWrongly(kube, refusing);
  expect(result).toBe('Failed');
  expect(message).toContain(`${refused} may not change`);
  expect(await listed(refusing)).toEqual([CURRENT]);
  expect((await refusing.stored()).get(refused)?.apiVersion).toBe(`${GROUP}/${OLD}`);
});

test('asked for after a wrong trim, ours claims no proof before all is rewritten', async () => {
  const refused = oldName(2);
  expect(await listed(refusing)).toEqual([CURRENT]);
  const name = await world.migrate(refusing, { retries: 0 });
  await world.tickUntil(ours, name, 'Blocked');
  expect(await world.condition(name, 'Blocked')).toContain(`such as default/${refused}`);
  expect(await world.condition(name, 'Proved')).toBe('');
  expect(await count(refusing)).toEqual({ [OLD]: 1, [CURRENT]: 4 });
  await allowUpdates(kube, refusing, refused);
  await world.tickUntil(ours, name, 'Done');
  expect(await world.condition(name, 'Proved')).toContain('All 5 objects');
  expect(await count(refusing)).toEqual({ [CURRENT]: 5 });
});

test('what it takes off wrongly is put back, and said, until it is proved', async () => {
  const refused = oldName(3);
  await refuseUpdates(kube, watched, refused);
  const name = await world.migrate(watched, { retries: 0 });
  await world.tickUntil(ours, name, 'Blocked');
  expect(await migrateInTree(kube, watched)).toMatchObject({ result: 'Failed' });
  expect(await listed(watched)).toEqual([CURRENT]);
  await world.tick(ours);
  expect(await listed(watched)).toEqual([OLD, CURRENT]);
  expect(await world.announced(watched)).toEqual([
    expect.stringContaining(`StoredVersionsRestored: Put ${OLD} back on the stored versions`),
  ]);
  expect(await world.status(name)).toMatchObject({ phase: 'Blocked', restored: [OLD] });
  expect(await world.condition(name, 'Blocked')).toContain('ObjectsFailed');
  expect(await world.condition(name, 'Proved')).toBe('');
  await allowUpdates(kube, watched, refused);
  await world.tickUntil(ours, name, 'Done');
  expect(await listed(watched)).toEqual([CURRENT]);
  expect(await count(watched)).toEqual({ [CURRENT]: 5 });
});
