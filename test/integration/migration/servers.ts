// The API server is written to by others, has too much to do, loses answers, forgets the moment of
// a list, and is killed: a migration takes longer for it and proves nothing less.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { STORAGE_MIGRATIONS } from '../../../shared/api/storage-migration.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { CURRENT, OLD, until, type VersionedKind } from '../../builders/versioned-kind.ts';
import { compact, storedValues } from '../../builders/etcd-values.ts';
import { type Fault, type Front, openFront } from '../kube/front.ts';
import { keys, world } from './encrypted-plane.ts';
import { Keys } from './keys.ts';
import { startWriters } from './writers.ts';

const SECRETS = { group: '', version: 'v1', resource: 'secrets' } as const;

let front: Front;
let one: RunningFunction;
/** Ends its requests after a few objects, so that there is a middle. */
let hasty: RunningFunction;

beforeAll(async () => {
  await world.prepare('anvils', 'bolts', 'clamps', 'drills', 'engines');
  front = await openFront(world.plane);
  one = await world.startFunction({ KUBECONFIG: front.kubeconfigPath });
  hasty = await world.startFunction({ WORK_SECONDS: '0.1', SETTLE_SECONDS: '0' });
});

afterAll(async () => {
  await front?.close();
});

async function expectDone(kind: VersionedKind, count: number): Promise<void> {
  await world.tickUntil(one, kind.crdName, 'Done');
  expect(await world.stored(kind)).toEqual({ [CURRENT]: count });
  expect((await kind.read()).status.storedVersions).toEqual([CURRENT]);
  expect(await world.condition(kind.crdName, 'Proved')).toContain(`All ${count} objects`);
}

/** For as many writes of objects of the kind. */
function spoil({ plural }: VersionedKind, count: number, does: Fault['does']): void {
  const meets = (method: string, url: string) =>
    method === 'PATCH' && url.includes(`/${plural}/`) && !url.includes('dryRun');
  front.faults.push(...Array.from({ length: count }, () => ({ meets, does })));
}

test('it is told that there is too much to do: it waits, and counts nobody as failed', async () => {
  const kind = await world.kind('anvils', 12);
  spoil(kind, 6, { answer: 429, retryAfterSeconds: 0 });
  await world.migrate(kind, { retries: 0 });
  await expectDone(kind, 12);
  expect(front.faults).toEqual([]);
  expect(await world.status(kind.crdName)).toMatchObject({ rewritten: 12, pass: 2 });
});

test('it is told so for ever: it is blocked, and goes on afterwards', async () => {
  const kind = await world.kind('bolts', 6);
  const meets = (method: string, url: string) => method === 'PATCH' && url.includes('/bolts/');
  const does = { answer: 429, retryAfterSeconds: 0 };
  front.faults.push(...Array.from({ length: 1_000 }, () => ({ meets, does })));
  await world.migrate(kind);
  await world.tickUntil(one, kind.crdName, 'Blocked');
  expect(await world.condition(kind.crdName, 'Blocked')).toMatch(/^Throttled: /);
  expect(await world.stored(kind)).toEqual({ [OLD]: 6 });
  front.faults.splice(0);
  await expectDone(kind, 6);
});

test('answers are lost after the work is done: nobody is taken for failed', async () => {
  const kind = await world.kind('clamps', 6);
  spoil(kind, 4, 'lose-answer');
  await world.migrate(kind, { retries: 0 });
  await expectDone(kind, 6);
  expect(await world.status(kind.crdName)).toMatchObject({ pass: 2, progress: { failed: 0 } });
  expect(front.faults).toEqual([]);
});

test('etcd forgets the moment of the list: the pass goes on behind the cursor', async () => {
  const kind = await world.kind('drills', 12);
  const name = await world.migrate(kind, { budget: { requestsPerSecond: 40 } });
  await until('a part of the pass to be made', async () => {
    await world.tick(hasty);
    return (await world.status(name)).cursor !== undefined;
  });
  const { cursor, progress } = await world.status(name);
  await compact(world.plane);
  // The API server's own memory goes with it.
  await world.plane.part('kube-apiserver').restart();
  const next = world.kube.list(kind.ref(), { limit: 1, continue: cursor?.continue ?? '' });
  await expect(next).rejects.toMatchObject({ code: 'KUBE_EXPIRED' });
  await world.tick(hasty);
  const after = await world.status(name);
  expect(after.pass).toBe(1);
  expect(after.progress?.done).toBeGreaterThan(progress?.done ?? 12);
  await expectDone(kind, 12);
});

test('the key of Secrets is changed: every one is encrypted anew, and proved to be', async () => {
  const manifest = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'default' },
    data: { password: 'c2VjcmV0' },
  });
  for (const name of ['a', 'b.c']) await world.kube.create(SECRETS, manifest(name));
  const keysUsed = async () =>
    (await storedValues(world.plane, 'secrets')).map((value) => Keys.nameIn(value));
  expect(await keysUsed()).toEqual(['first', 'first']);
  await keys.change();
  await world.plane.part('kube-apiserver').restart();
  await world.kube.create(STORAGE_MIGRATIONS, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'StorageMigration',
    metadata: { name: 'secrets' },
    spec: { resource: { resource: 'secrets' } },
  });
  await world.tickUntil(one, 'secrets', 'Done');
  expect(await keysUsed()).toEqual(['second', 'second']);
  expect(await world.status('secrets')).toMatchObject({ rewritten: 2, proof: { objects: 2 } });
});

test('the API server is killed while five writers write: nothing is lost', async () => {
  const kind = await world.kind('engines', 40);
  const name = await world.migrate(kind, { budget: { requestsPerSecond: 100 } });
  const writers = startWriters(world.kube, kind);
  await world.tickUntil(hasty, name, 'Rewriting');
  await until('the writers to write', async () => writers.written > 40);
  const underWay = world.tick(hasty);
  await world.plane.part('kube-apiserver').kill();
  await world.plane.part('kube-apiserver').start();
  await underWay;
  const before = writers.written;
  // The one that met it goes on itself, and one that takes longer steps ends it: each of the short
  // ones costs the start of a request, beside writers who do not rest.
  const done = (await world.status(name)).progress?.done ?? 0;
  await until('it to go on', async () => {
    await world.tick(hasty);
    return ((await world.status(name)).progress?.done ?? 0) > done;
  });
  await world.tickUntil(one, name, 'Done');
  await until('the writers to go on', async () => writers.written > before + 20);
  const known = await writers.stop();
  const stored = await kind.stored();
  expect(Object.keys(await world.stored(kind))).toEqual([CURRENT]);
  expect((await kind.read()).status.storedVersions).toEqual([CURRENT]);
  for (const [object, color] of known) {
    if (color === undefined) continue;
    const spec = stored.get(object)?.['spec'] as { readonly color: string } | undefined;
    expect([object, spec?.color ?? null]).toEqual([object, color]);
  }
});
