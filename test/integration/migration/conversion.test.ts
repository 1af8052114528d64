// A conversion webhook that is slow, fails, lies, dies in the middle or refuses single objects: the
// migration says so, writes nothing that it would lose, and goes on by itself.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { clean } from '../../../functions/storage-migration/clean.ts';
import { Pace } from '../../../functions/storage-migration/pace.ts';
import { crdOf, type Target } from '../../../functions/storage-migration/observe.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../../shared/kube/objects.ts';
import {
  CURRENT,
  NAMESPACE,
  OLD,
  oldName,
  type VersionedKind,
} from '../../builders/versioned-kind.ts';
import { type Behaviour, ConversionWebhook } from './webhook.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { MigrationWorld } from './world.ts';

let world: MigrationWorld;
let one: RunningFunction;
let webhook: ConversionWebhook;

beforeAll(async () => {
  world = new MigrationWorld(sharedPlane());
  await world.prepare(
    'anvils',
    'bolts',
    'clamps',
    'drills',
    'engines',
    'files',
    'gears',
    'helms',
    'irons',
    'jacks',
  );
  webhook = await ConversionWebhook.start(world.plane);
  one = await world.startFunction();
});

afterAll(async () => {
  webhook?.die();
  await world?.stop();
});

beforeEach(() => {
  webhook.behave({});
});

type Stored = Awaited<ReturnType<VersionedKind['stored']>>;

/** Nobody's fields were forgotten, and nothing of what nobody knows is lost. */
async function expectNothingLost(kind: VersionedKind, before: Stored): Promise<void> {
  const after = await kind.stored();
  expect(after.size).toBe(before.size);
  for (const [name, { metadata, spec }] of after) {
    expect(metadata.managedFields).toEqual(before.get(name)?.metadata.managedFields);
    expect(spec).toMatchObject({ extra: { kept: name } });
  }
}

async function expectDone(kind: VersionedKind, before: Stored): Promise<void> {
  await world.tickUntil(one, kind.crdName, 'Done');
  expect(await world.stored(kind)).toEqual({ [CURRENT]: before.size });
  expect((await kind.read()).status.storedVersions).toEqual([CURRENT]);
  await expectNothingLost(kind, before);
}

test.each<[string, string, Behaviour]>([
  ['fails', 'anvils', { failsWith: 500 }],
  ['answers another question', 'bolts', { lie: 'review-uid' }],
  ['answers with another object', 'clamps', { lie: 'object-uid' }],
])('it %s from the start: nothing is written before it is repaired', async (...row) => {
  const [_what, plural, behaviour] = row;
  const kind = await world.kind(plural, 3, webhook.conversion);
  const before = await kind.stored();
  webhook.behave(behaviour);
  await world.migrate(kind);
  await world.tickUntil(one, kind.crdName, 'Blocked');
  expect(await world.condition(kind.crdName, 'Blocked')).toMatch(/^ConversionFails: /);
  expect(await world.status(kind.crdName)).toMatchObject({ blockedIn: 'Preflight' });
  expect(await kind.stored()).toEqual(before);
  webhook.behave({});
  await expectDone(kind, before);
});

test('it forgets a field: that is seen in a sample, and nothing is written before', async () => {
  const kind = await world.kind('irons', 3, webhook.conversion);
  const before = await kind.stored();
  webhook.behave({ lie: 'drop-extra' });
  const name = await world.migrate(kind);
  await world.tickUntil(one, name, 'Blocked');
  expect(await world.condition(name, 'Blocked')).toMatch(
    /^FieldsWouldBeLost: default.old-00000 does not come back .* again without .spec.extra[.]/,
  );
  expect(await kind.stored()).toEqual(before);
  webhook.behave({});
  await expectDone(kind, before);
});

test('it forgets a field of one object: that one is named, and all others rewritten', async () => {
  const kind = await world.kind('jacks', 9, webhook.conversion);
  const before = await kind.stored();
  const forgotten = oldName(7);
  webhook.behave({ lie: 'drop-extra', liesAbout: [forgotten] });
  const name = await world.migrate(kind, { retries: 0 });
  await world.tickUntil(one, name, 'Blocked');
  expect(await world.condition(name, 'Blocked')).toMatch(
    /^ObjectsFailed: 1 objects cannot be written, such as default.old-00007: It does not come back/,
  );
  expect((await world.status(name)).failed).toMatchObject([{ reason: 'FieldsWouldBeLost' }]);
  expect(await world.stored(kind)).toEqual({ [OLD]: 1, [CURRENT]: 8 });
  expect((await kind.read()).status.storedVersions).toEqual([OLD, CURRENT]);
  await world.tick(one);
  await expectNothingLost(kind, before);
  webhook.behave({});
  await expectDone(kind, before);
});

test('it is slow: it takes longer, and no more', async () => {
  const kind = await world.kind('drills', 4, webhook.conversion);
  const before = await kind.stored();
  webhook.behave({ delayMs: 150 });
  await world.migrate(kind);
  await expectDone(kind, before);
  expect(await world.status(kind.crdName)).toMatchObject({ rewritten: 4, pass: 2 });
});

test('it hangs: that is said in the time that a request has', async () => {
  const kind = await world.kind('gears', 6, webhook.conversion);
  const before = await kind.stored();
  // The API server still lists from its cache; single objects it has to convert.
  await world.kube.list(kind.ref());
  webhook.behave({ delayMs: 60_000 });
  await world.migrate(kind);
  const conversions = webhook.conversions.length;
  await world.tickUntil(one, kind.crdName, 'Blocked');
  // Not each of five samples is waited for: one takes all the time that a request has.
  expect(new Set(webhook.conversions.slice(conversions).map(({ name }) => name)).size).toBeLessThan(
    3,
  );
  expect(await world.condition(kind.crdName, 'Blocked')).toMatch(/^ConversionFails: .* ms /);
  webhook.die();
  await webhook.comeBack();
  webhook.behave({});
  await expectDone(kind, before);
});

test('it dies in the middle: no object loses anything, and it goes on where it was', async () => {
  const kind = await world.kind('engines', 30, webhook.conversion);
  const before = await kind.stored();
  webhook.behave({ diesAfter: 60 });
  await world.migrate(kind);
  await world.tickUntil(one, kind.crdName, 'Blocked');
  expect(await world.condition(kind.crdName, 'Blocked')).toMatch(/^ConversionFails: /);
  await expectNothingLost(kind, before);
  expect((await kind.read()).status.storedVersions).toEqual([OLD, CURRENT]);
  expect(Object.keys(await world.stored(kind))).toContain(OLD);
  await webhook.comeBack();
  webhook.behave({});
  await expectDone(kind, before);
});

test('it refuses some objects, one after the other: the rest is rewritten', async () => {
  const kind = await world.kind('files', 12, webhook.conversion);
  const before = await kind.stored();
  await world.kube.list(kind.ref());
  webhook.behave({ refuses: [1, 2, 3, 4, 5, 6, 7].map(oldName) });
  await world.migrate(kind, { retries: 0 });
  await world.tickUntil(one, kind.crdName, 'Blocked');
  expect(await world.condition(kind.crdName, 'Blocked')).toContain('7 objects cannot be written');
  expect(await world.stored(kind)).toEqual({ [OLD]: 7, [CURRENT]: 5 });
  expect((await world.status(kind.crdName)).failed).toHaveLength(7);
  webhook.behave({});
  await expectDone(kind, before);
});

test('it fails while managedFields are cleaned: what is to stay stays', async () => {
  const kind = await world.kind('helms', 1, webhook.conversion);
  const manifest = kind.object(CURRENT, oldName(0));
  await world.kube.apply(kind.ref(), manifest, { fieldManager: 'bob', force: true });
  // As if the current version were not served: what stays is then in one that is converted.
  const crd = crdOf(await kind.read());
  const versions = crd.versions.map((each) => ({ ...each, served: each.name !== CURRENT }));
  const target = { ref: kind.ref(), kind: kind.kind, version: CURRENT, crd: { ...crd, versions } };
  const seen = await world.kube.get(kind.ref(), { namespace: NAMESPACE, name: oldName(0) });
  if (seen === null) throw new Error('it is not there');
  await world.kube.list(kind.ref());
  const before = await kind.stored();
  webhook.behave({ failsWith: 500 });
  const failed = { reason: 'ManagedFieldsWouldBeLost' };
  expect(await cleaned(target, seen)).toMatchObject({ outcome: 'failed', failed });
  expect(await kind.stored()).toEqual(before);
  webhook.behave({});
  expect(await cleaned(target, seen)).toEqual({ outcome: 'changed' });
  const { managedFields = [] } = (await kind.stored()).get(oldName(0))?.metadata ?? {};
  expect(managedFields).toEqual(seen.metadata.managedFields?.filter(isNotBobs));
});

const isNotBobs = ({ manager }: ManagedFieldsEntry): boolean => manager !== 'bob';

function cleaned(target: Target, seen: KubeObject) {
  const { kube } = world;
  const { ref, kind } = target;
  const pace = new Pace({ concurrency: 1 }, systemClock);
  const { signal } = new AbortController();
  const task = { kube, target, ref, kind, pace, clock: systemClock, dryRun: false, signal };
  return clean({ ...task, endsAtMs: Infinity }, seen);
}
