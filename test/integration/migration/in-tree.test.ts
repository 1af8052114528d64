// What Kubernetes' own migrator does, as far as we stand beside it: it migrates, and it trims
// storedVersions also when it failed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Plane } from '../../../knative/local/plane/plane.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { countStored } from '../../builders/etcd-values.ts';
import { CURRENT, GROUP, OLD, VersionedKind } from '../../builders/versioned-kind.ts';
import { addInTreeMigrator, migrateInTree, startInTreePlane, trimWrongly } from './in-tree.ts';

let plane: Plane;
let kube: KubeClient;
let willing: VersionedKind;
let refusing: VersionedKind;

beforeAll(async () => {
  plane = await startInTreePlane();
  const { kubeconfigPath } = plane;
  kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  willing = new VersionedKind(plane, kube, 'gadgets');
  refusing = new VersionedKind(plane, kube, 'gizmos');
  await willing.fill(5);
  await refusing.fill(5);
  await addInTreeMigrator(plane);
});

afterAll(async () => {
  await kube?.close();
  await plane?.stop();
});

const count = (kind: VersionedKind) => countStored(plane, GROUP, kind.plural);

test('it rewrites what is stored in the old version and trims storedVersions', async () => {
  expect((await willing.read()).status.storedVersions).toEqual([OLD, CURRENT]);
  expect(await count(willing)).toEqual({ [OLD]: 5 });
  expect(await migrateInTree(kube, willing)).toMatchObject({ result: 'Succeeded' });
  expect(await count(willing)).toEqual({ [CURRENT]: 5 });
  expect((await willing.read()).status.storedVersions).toEqual([CURRENT]);
});

test('it trims storedVersions though it failed, and old values are left behind', async () => {
  expect(await count(refusing)).toEqual({ [OLD]: 5 });
  const { result, message, refused } = await trimWrongly(kube, refusing);
  expect(result).toBe('Failed');
  expect(message).toContain(`${refused} may not change`);
  expect((await refusing.read()).status.storedVersions).toEqual([CURRENT]);
  expect((await refusing.stored()).get(refused)?.apiVersion).toBe(`${GROUP}/${OLD}`);
});
