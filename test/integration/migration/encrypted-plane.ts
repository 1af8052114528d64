// The plane of the files that `own-plane.test.ts` runs: its API server encrypts some of what it
// stores, and its parts may be killed. Its start costs as much CPU as most of their tests.
import { afterAll, beforeAll } from 'vitest';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import { Keys } from './keys.ts';
import { MigrationWorld } from './world.ts';

export let world: MigrationWorld<Plane>;
export let keys: Keys;

export function withEncryptedPlane(): void {
  beforeAll(async () => {
    keys = await Keys.make();
    const apiServerFlags = [`--encryption-provider-config=${keys.path}`];
    const parts = ['etcd', 'kube-apiserver'] as const;
    world = new MigrationWorld(await startPlane({ parts, apiServerFlags }));
    await world.install();
  });

  afterAll(async () => {
    await world?.stop();
    await world?.plane.stop();
    await keys?.remove();
  });
}
