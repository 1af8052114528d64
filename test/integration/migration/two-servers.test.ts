// Two real API servers on one etcd, of which one does not hear that the stored version is changed:
// what it would write nobody knows, so nothing is rewritten before it has said so itself.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPlane } from '../../../knative/local/plane/plane.ts';
import type { Part } from '../../../knative/local/process/part.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { SERVERNAME } from '../../../shared/kube/servers.ts';
import { addSecondServer } from '../../builders/api-servers.ts';
import { CURRENT, GROUP, OLD, until, VersionedKind } from '../../builders/versioned-kind.ts';
import { MigrationWorld } from './world.ts';

const COUNT = 6;

let world: MigrationWorld;
let second: Part;
let throughSecond: KubeClient;
let one: RunningFunction;

beforeAll(async () => {
  world = new MigrationWorld(await startPlane({ parts: ['etcd', 'kube-apiserver'], links: true }));
  second = await addSecondServer(world.plane, world.kube);
  throughSecond = openKube({
    kubeconfigPath: world.plane.kubeconfigPath,
    server: { url: second.url, servername: SERVERNAME },
    userAgent: 'test',
    fieldManager: 'test',
  });
  await world.prepare('anvils', 'bolts', 'clamps');
  one = await world.startFunction({ WORK_SECONDS: '1' });
});

afterAll(async () => {
  second?.resume();
  await throughSecond?.close();
  await world?.stop();
});

/** With objects in the old version, and known to both. */
async function oldKind(plural: string): Promise<VersionedKind> {
  const kind = new VersionedKind(world.plane, world.kube, plural);
  await kind.createOld(COUNT);
  await until('the second API server to know the kind', async () => {
    const found = await throughSecond.resourceFor(`${GROUP}/${CURRENT}`, kind.kind);
    return found !== undefined;
  });
  return kind;
}

/** Why nothing is done. */
async function obstacle({ crdName }: VersionedKind): Promise<string> {
  await world.tickUntil(one, crdName, 'Blocked');
  return world.condition(crdName, 'Blocked');
}

const stateOf = async (kind: VersionedKind) => ({
  stored: await world.stored(kind),
  listed: (await kind.read()).status.storedVersions,
});

const UNTOUCHED = { stored: { [OLD]: COUNT }, listed: [OLD, CURRENT] };
const MIGRATED = { stored: { [CURRENT]: COUNT }, listed: [CURRENT] };

test('both announce the new version: the migration ends as with one', async () => {
  const kind = await world.kind('anvils', COUNT);
  const name = await world.migrate(kind);
  await world.tickUntil(one, name, 'Done');
  expect(await stateOf(kind)).toEqual(MIGRATED);
});

test('one stands still: nothing is rewritten until it goes on, then all is proved', async () => {
  const kind = await oldKind('bolts');
  await second.pause();
  await kind.flip();
  const name = await world.migrate(kind);
  expect(await obstacle(kind)).toMatch(
    /^ApiServersDisagree: The API server at https:\/\/127\.0\.0\.2:\d+ cannot be asked what it st/,
  );
  expect(await stateOf(kind)).toEqual(UNTOUCHED);
  second.resume();
  await world.tickUntil(one, name, 'Done');
  expect(await stateOf(kind)).toEqual(MIGRATED);
  expect(await world.condition(name, 'Proved')).toContain(`All ${COUNT} objects`);
});

test('one is cut off from etcd and announces the old version: it is waited for', async () => {
  const kind = await oldKind('clamps');
  world.plane.partition(second.name, 'etcd');
  await kind.flip();
  const name = await world.migrate(kind);
  expect(await obstacle(kind)).toMatch(
    /^ApiServersDisagree: .*127\.0\.0\.2:\d+ does not announce v1 as what it stores[.] Nothing /,
  );
  expect(await stateOf(kind)).toEqual(UNTOUCHED);
  world.plane.heal(second.name, 'etcd');
  await world.tickUntil(one, name, 'Done');
  expect(await stateOf(kind)).toEqual(MIGRATED);
  expect(await world.condition(name, 'Proved')).toContain(`All ${COUNT} objects`);
});
