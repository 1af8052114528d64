// A migration that takes longer than one request may, on real Knative: request after request goes
// on with it, also when its function is rolled out anew in the middle.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fillTryOut } from '../../../knative/try/local/population/try-out.ts';
import { migrationFor, rightsFor } from '../../../knative/tools/migrate/manifests.ts';
import {
  STORAGE_MIGRATIONS,
  type StorageMigrationStatus,
} from '../../../shared/api/storage-migration.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { eventually } from './support/rig.ts';
import { OURS } from './support/shown-feed.ts';
import { type KnativeWorld, NAMESPACES, openWorld, OPEN_WITHIN_MS } from './support/world.ts';

const SERVICES = { group: 'serving.knative.dev', version: 'v1', resource: 'services' } as const;
const NAME = 'widgets.demo.ballast.dev';
const FUNCTION = { namespace: OURS, name: 'storage-migration' } as const;
/** Objects that the try-out leaves behind. */
const WIDGETS = 300;
/** Over half a minute for a pass, and so several requests: longer than a rollout takes. */
const PER_SECOND = 8;
/** Longer than a flip of the CRD takes to settle, for which one request waits. */
const ENV = { WORK_SECONDS: '5', LONGEST_WRITE_SECONDS: '0' } as const;

let world: KnativeWorld;

beforeAll(async () => {
  world = await openWorld(NAMESPACES.migrating);
  await fillTryOut(world.rig.kube);
  await rollOut();
}, OPEN_WITHIN_MS);

afterAll(() => world.close());

/** A new revision, which answers from then on; its name. */
async function rollOut(): Promise<string> {
  const { kube } = world.rig;
  const service = await kube.get(SERVICES, FUNCTION);
  const { template } = Object(service?.['spec']);
  const [container] = template.spec.containers;
  const env = container.env.map((one: { readonly name: string }) =>
    one.name in ENV ? { name: one.name, value: Object(ENV)[one.name] } : one,
  );
  const metadata = { annotations: { 'ballast.dev/rolled-out-by': randomUUID() } };
  const spec = { containers: [{ ...container, env }] };
  const body = { spec: { template: { metadata, spec } } };
  const before = Object(service?.['status']).latestCreatedRevisionName;
  await kube.patch(SERVICES, FUNCTION, { type: 'merge', body });
  return eventually(async () => {
    const { latestCreatedRevisionName: name, latestReadyRevisionName: ready } = Object(
      (await kube.get(SERVICES, FUNCTION))?.['status'],
    );
    expect(name).not.toBe(before);
    expect(ready).toBe(name);
    return String(name);
  });
}

/** Nothing is left that slows it down. */
async function hurry(): Promise<void> {
  const body = { spec: { budget: { requestsPerSecond: null } } };
  await world.rig.kube.patch(STORAGE_MIGRATIONS, { name: NAME }, { type: 'merge', body });
}

async function status(): Promise<StorageMigrationStatus> {
  const object = await world.rig.kube.get(STORAGE_MIGRATIONS, { name: NAME });
  return object?.['status'] ?? {};
}

test('a long migration goes on from request to request, across a rollout', async () => {
  const request = {
    group: 'demo.ballast.dev',
    resource: 'widgets',
    dryRun: false,
    trim: 'OnProof',
    mode: 'Ballast',
    verifiesEtcd: false,
    namespace: OURS,
  } as const;
  const { spec, ...migration } = migrationFor(request);
  const budget = { requestsPerSecond: PER_SECOND, concurrency: 2 };
  const slow = { ...migration, spec: { ...Object(spec), budget } };
  await world.rig.apply(...rightsFor(request), slow);
  const before = await eventually(async () => {
    const { progress, worker, phase } = await status();
    expect(phase).toBe('Rewriting');
    expect(progress?.done).toBeGreaterThan(0);
    expect(worker?.id).toBeDefined();
    return worker?.id ?? '';
  });
  await rollOut();
  // The next instance takes it up before it may hurry, or the first one could end it alone.
  const workers = new Set([before]);
  await eventually(async () => {
    workers.add((await status()).worker?.id ?? before);
    expect(workers.size).toBeGreaterThan(1);
  });
  await hurry();
  await eventually(async () => {
    expect((await status()).phase).toBe('Done');
  });
  const { rewritten, proof, failed = [] } = await status();
  const crd = await world.rig.kube.get(CRDS, { name: NAME });
  expect(rewritten).toBe(WIDGETS);
  expect(failed).toEqual([]);
  expect(proof).toMatchObject({ oracle: 'SecondPass' });
  expect(Object(crd?.['status']).storedVersions).toEqual(['v1']);
});
