// Another migrator does the rewriting: Kubernetes' own, as it is, and one of the community's API,
// whose part the test plays. Their reports prove nothing, and objects that they leave are
// rewritten. The first also trims storedVersions when it failed; we put back the part that we
// notice.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServiceAccounts } from '../../../knative/try/local/cluster/service-accounts.ts';
import type { Plane } from '../../../knative/try/local/plane/plane.ts';
import { rightsFor } from '../../../knative/tools/migrate/manifests.ts';
import { type Mode, STORAGE_MIGRATIONS } from '../../../shared/api/storage-migration.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject, ObjectName, ResourceRef } from '../../../shared/kube/objects.ts';
import { CURRENT, GROUP, OLD, oldName, until } from '../../builders/versioned-kind.ts';
import type { VersionedKind } from '../../builders/versioned-kind.ts';
import { defineCommunityApi, ORDERS, sayEnd } from './community.ts';
import {
  addInTreeMigrator,
  isOver,
  migrateInTree,
  MIGRATIONS,
  startInTreePlane,
  trimWrongly,
} from './in-tree.ts';
import { allowUpdates, refuseUpdates } from './refusal.ts';
import { ConversionWebhook } from './webhook.ts';
import { MigrationWorld } from './world.ts';

let world: MigrationWorld<Plane>;
let kube: KubeClient;
let ours: RunningFunction;
let willing: VersionedKind;
let refusing: VersionedKind;
let left: VersionedKind;
let dropped: VersionedKind;
let edited: VersionedKind;
let bounded: VersionedKind;
let converted: VersionedKind;
let alone: VersionedKind;
let trimmed: VersionedKind;
let watched: VersionedKind;
let mortal: VersionedKind;
let webhook: ConversionWebhook;
/** It starts while nobody needs it yet. */
let inTree: Promise<unknown>;

beforeAll(async () => {
  const plane = await startInTreePlane();
  world = new MigrationWorld(plane);
  ({ kube } = world);
  await world.install();
  webhook = await ConversionWebhook.start(plane);
  [willing, refusing, left, dropped, edited, bounded, converted, alone, trimmed, watched, mortal] =
    await Promise.all([
      world.kind('gadgets', 5),
      world.kind('gizmos', 5),
      world.kind('relics', 3),
      world.kind('trinkets', 3),
      world.kind('charms', 3),
      world.kind('medals', 3),
      world.kind('tokens', 3, webhook.conversion),
      world.kind('anvils', 5),
      world.kind('bolts', 5),
      world.kind('clamps', 5),
      world.kind('mayflies', 3),
    ]);
  inTree = addInTreeMigrator(plane);
  ours = await world.startFunction();
});

afterAll(async () => {
  await Promise.allSettled([inTree]);
  webhook?.die();
  await world?.stop();
  await world?.plane.stop();
});

const listed = async (kind: VersionedKind) => (await kind.read()).status.storedVersions;

/** The order that ours made, once it is said in the status. */
async function order(ref: ResourceRef, { crdName }: VersionedKind): Promise<KubeObject> {
  const name = (await world.status(crdName)).delegate?.name ?? '';
  const found = await kube.get(ref, { name });
  if (found === null) throw new Error(`there is no order ${name}`);
  return found;
}

/** Ours waits for the community's migrator. */
async function delegated(kind: VersionedKind): Promise<string> {
  const name = await world.migrate(kind, { mode: 'Community' });
  await world.tickUntil(ours, name, 'Delegating');
  return name;
}

/** The function's account gets what is printed for this mode. */
async function allow(mode: Mode, { plural }: VersionedKind = bounded): Promise<ObjectName> {
  const request = {
    group: GROUP,
    resource: plural,
    dryRun: false,
    trim: 'OnProof',
    verifiesEtcd: false,
  } as const;
  const printed = rightsFor({ ...request, mode, namespace: 'ballast-system' });
  for (const manifest of printed) {
    const resource = `${manifest.kind.toLowerCase()}s`;
    await kube.apply({ ...CLUSTER_ROLES, resource }, manifest, { force: true });
  }
  return { name: printed[0]?.metadata.name ?? '' };
}

const CLUSTER_ROLES: ResourceRef = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource: 'clusterroles',
};

/** Ours waits, and the in-tree migrator is shown that the kind has moved, so that it begins. */
async function handOver(kind: VersionedKind, spec: object): Promise<string> {
  await inTree;
  const name = await world.migrate(kind, { mode: 'InTree', ...spec });
  await world.tickUntil(ours, name, 'Delegating');
  await until(`the order of ${name} to have its start`, async () =>
    JSON.stringify((await order(MIGRATIONS, kind))['status'] ?? {}).includes('resourceVersion'),
  );
  await kind.touch('newer');
  return name;
}

const untilOver = (kind: VersionedKind): Promise<void> =>
  until(`the in-tree migrator to be through with ${kind.plural}`, async () =>
    isOver(await order(MIGRATIONS, kind)),
  );

test('where nobody serves the API it says so, and goes on when somebody does', async () => {
  const name = await world.migrate(left, { mode: 'Community' });
  await world.tickUntil(ours, name, 'Blocked');
  expect(await world.condition(name, 'Blocked')).toContain(
    'ModeUnavailable: spec.mode is Community, and the API server serves no',
  );
  await defineCommunityApi(kube);
  await world.tickUntil(ours, name, 'Delegating');
  const { ['spec']: spec } = await order(ORDERS, left);
  expect(spec).toEqual({ resource: { group: GROUP, version: CURRENT, resource: 'relics' } });
  await world.tick(ours);
  expect((await world.status(name)).phase).toBe('Delegating');
  expect(await world.stored(left)).toEqual({ [OLD]: 3 });
});

test('a success that it only claims is no proof', async () => {
  const name = left.crdName;
  await sayEnd(kube, await order(ORDERS, left), 'Succeeded');
  await world.tickUntil(ours, name, 'Done');
  expect(await world.stored(left)).toEqual({ [CURRENT]: 3 });
  expect(await world.status(name)).toMatchObject({
    delegate: { apiVersion: 'migration.k8s.io/v1alpha1', result: 'Succeeded' },
    rewritten: 3,
    trimmed: [OLD],
  });
});

test('an order that somebody deletes is not waited for', async () => {
  const name = await delegated(dropped);
  const { metadata } = await order(ORDERS, dropped);
  await kube.delete(ORDERS, { name: metadata.name }, metadata);
  await world.tickUntil(ours, name, 'Done');
  expect(await world.status(name)).toMatchObject({ delegate: { result: 'Gone' }, rewritten: 3 });
  expect(await listed(dropped)).toEqual([CURRENT]);
});

test('a mode that is edited begins it anew', async () => {
  const name = await delegated(edited);
  const body = { spec: { mode: 'Ballast' } };
  await kube.patch(STORAGE_MIGRATIONS, { name }, { type: 'merge', body });
  await world.tickUntil(ours, name, 'Done');
  const status = await world.status(name);
  expect(status).toMatchObject({ rewritten: 3, pass: 2 });
  expect(status.delegate).toBeUndefined();
});

test('while it waits it says that the conversion webhook is away', async () => {
  const name = await delegated(converted);
  webhook.die();
  await world.tickUntil(ours, name, 'Blocked');
  expect(await world.condition(name, 'Blocked')).toContain('ConversionFails');
  await webhook.comeBack();
  await world.tickUntil(ours, name, 'Delegating');
  await sayEnd(kube, await order(ORDERS, converted), 'Failed', 'too late');
  await world.tickUntil(ours, name, 'Done');
  expect(await world.condition(name, 'Proved')).toContain('All 3 objects');
  const { conditions = [], rewritten } = await world.status(name);
  expect(conditions.find(({ type }) => type === 'Progressing')?.message).toContain(
    'failed: too late',
  );
  expect(rewritten).toBe(3);
});

test('the role of a migration that is deleted goes, and its objects stay', async () => {
  const role = await allow('Ballast', mortal);
  const granted = (await kube.get(CLUSTER_ROLES, role))?.['rules'];
  const name = await world.migrate(mortal);
  await world.tickUntil(ours, name, 'Done');
  expect(await kube.get(CLUSTER_ROLES, role)).toMatchObject({
    rules: granted,
    metadata: { ownerReferences: [{ kind: 'StorageMigration', name }] },
  });
  await inTree;
  const because = 'the test owns it';
  await kube.delete(STORAGE_MIGRATIONS, { name }, { precondition: 'none', because });
  await until('the role to go', async () => (await kube.get(CLUSTER_ROLES, role)) === null);
  expect(await world.stored(mortal)).toEqual({ [CURRENT]: 3 });
});

test('it needs the rights that are printed for the mode, and no others', async () => {
  const accounts = new ServiceAccounts(kube, world.plane, () => undefined);
  const account = { namespace: 'ballast-system', name: 'storage-migration' };
  const limited = await world.startFunction({
    KUBECONFIG: await accounts.kubeconfigFor('limited', account),
  });
  accounts.close();
  await allow('Ballast');
  const name = await world.migrate(bounded, { mode: 'Community' });
  await world.tickUntil(limited, name, 'Blocked');
  const [first, second] = ['create', 'get'].map(
    (verb) => `${verb} ${ORDERS.resource}.${ORDERS.group}`,
  );
  const command = `npm run -s migrate -- ${name} --mode community --rights | kubectl apply -f -`;
  const words = `may not ${first}, ${second}. Grant it: ${command}`;
  await until('the rights on the kind to be known', async () => {
    await world.tick(limited);
    return (await world.condition(name, 'Blocked')).includes(words);
  });
  await allow('Community');
  await world.tickUntil(limited, name, 'Delegating');
  await sayEnd(kube, await order(ORDERS, bounded), 'Succeeded');
  await world.tickUntil(limited, name, 'Done');
  expect(await world.stored(bounded)).toEqual({ [CURRENT]: 3 });
});

test('the in-tree migrator rewrites, and the proof and the trim are ours', async () => {
  const name = await handOver(willing, {});
  expect(await world.condition(name, 'Progressing')).toContain(
    'Waits until StorageVersionMigration',
  );
  const { metadata, ['spec']: spec } = await order(MIGRATIONS, willing);
  expect(spec).toEqual({ resource: { group: GROUP, resource: 'gadgets' } });
  expect(metadata.ownerReferences).toMatchObject([{ kind: 'StorageMigration', name }]);
  await world.tickUntil(ours, name, 'Done');
  expect(await world.status(name)).toMatchObject({
    delegate: { result: 'Succeeded' },
    // Nothing was left for us.
    rewritten: 0,
  });
  expect(await world.condition(name, 'Proved')).toContain('All 5 objects');
  expect(await world.stored(willing)).toEqual({ [CURRENT]: 5 });
  await untilOver(willing);
  await world.tick(ours);
  expect(await world.status(name)).toMatchObject({ phase: 'Done', trimmed: [OLD] });
  expect(await listed(willing)).toEqual([CURRENT]);
});

test('it fails and trims all the same: that is put back, and the rest is done by us', async () => {
  const refused = oldName(2);
  await refuseUpdates(kube, refusing, refused);
  const name = await handOver(refusing, { retries: 0 });
  await untilOver(refusing);
  await world.tickUntil(ours, name, 'Blocked');
  expect(await world.condition(name, 'Blocked')).toContain(
    `ObjectsFailed: 1 objects cannot be written, such as default/${refused}`,
  );
  expect(await world.status(name)).toMatchObject({ delegate: { result: 'Failed' } });
  expect((await world.status(name)).delegate?.message).toContain(`${refused} may not change`);
  expect(await listed(refusing)).toEqual([OLD, CURRENT]);
  expect(await world.stored(refusing)).toEqual({ [OLD]: 1, [CURRENT]: 4 });
  expect(await world.eventsOn(refusing)).toContainEqual(
    expect.stringContaining(`StoredVersionsRestored: Put ${OLD} back on the stored versions`),
  );
  await allowUpdates(kube, refusing, refused);
  await world.tickUntil(ours, name, 'Done');
  expect(await listed(refusing)).toEqual([CURRENT]);
  expect(await world.stored(refusing)).toEqual({ [CURRENT]: 5 });
  expect(await world.condition(name, 'Proved')).toContain('All 5 objects');
});

describe('the in-tree migrator, which nobody of ours asked', () => {
  beforeAll(async () => {
    await inTree;
  });

  test('it rewrites what is stored in the old version and trims storedVersions', async () => {
    expect(await listed(alone)).toEqual([OLD, CURRENT]);
    expect(await world.stored(alone)).toEqual({ [OLD]: 5 });
    expect(await migrateInTree(kube, alone)).toMatchObject({ result: 'Succeeded' });
    expect(await world.stored(alone)).toEqual({ [CURRENT]: 5 });
    expect(await listed(alone)).toEqual([CURRENT]);
  });

  test('it trims storedVersions though it failed, and old values are left behind', async () => {
    expect(await world.stored(trimmed)).toEqual({ [OLD]: 5 });
    const { result, message, refused } = await trimWrongly(kube, trimmed);
    expect(result).toBe('Failed');
    expect(message).toContain(`${refused} may not change`);
    expect(await listed(trimmed)).toEqual([CURRENT]);
    expect((await trimmed.stored()).get(refused)?.apiVersion).toBe(`${GROUP}/${OLD}`);
  });

  test('asked for after a wrong trim, ours claims no proof before all is rewritten', async () => {
    const refused = oldName(2);
    expect(await listed(trimmed)).toEqual([CURRENT]);
    const name = await world.migrate(trimmed, { retries: 0 });
    await world.tickUntil(ours, name, 'Blocked');
    expect(await world.condition(name, 'Blocked')).toContain(`such as default/${refused}`);
    expect(await world.condition(name, 'Proved')).toBe('');
    expect(await world.stored(trimmed)).toEqual({ [OLD]: 1, [CURRENT]: 4 });
    await allowUpdates(kube, trimmed, refused);
    await world.tickUntil(ours, name, 'Done');
    expect(await world.condition(name, 'Proved')).toContain('All 5 objects');
    expect(await world.stored(trimmed)).toEqual({ [CURRENT]: 5 });
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
    expect(await world.eventsOn(watched)).toEqual([
      expect.stringContaining(`StoredVersionsRestored: Put ${OLD} back on the stored versions`),
    ]);
    expect(await world.status(name)).toMatchObject({ phase: 'Blocked', restored: [OLD] });
    expect(await world.condition(name, 'Blocked')).toContain('ObjectsFailed');
    expect(await world.condition(name, 'Proved')).toBe('');
    await allowUpdates(kube, watched, refused);
    await world.tickUntil(ours, name, 'Done');
    expect(await listed(watched)).toEqual([CURRENT]);
    expect(await world.stored(watched)).toEqual({ [CURRENT]: 5 });
  });
});
