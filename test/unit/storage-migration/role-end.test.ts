// The role of a migration gets it as its owner, where the function was let, and never at the cost
// of the migration itself.
import { expect, test } from 'vitest';
import { tieRole } from '../../../functions/storage-migration/role-end.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { errorFromAnswer, readStatus } from '../../../shared/kube/errors.ts';
import type { KubeObject, Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import { storageVersionHash as hashOf } from '../../../shared/kube/storage-version.ts';
import { migration } from './samples.ts';

const NAME = 'ballast-storage-migration.widgets.example.com';
const { signal } = new AbortController();
const own = migration();
const { uid, name: migrationName } = own.object.metadata;

interface Server {
  readonly allowed?: readonly string[];
  readonly role?: object | null;
  readonly refuses?: Error;
}

/** The objects that it is asked to apply. */
async function applied({
  allowed = ['get', 'patch'],
  role = {},
  refuses,
}: Server): Promise<readonly Manifest[]> {
  const said: Manifest[] = [];
  const kube = {
    raw: async ({ path, body }: { readonly path: string; readonly body: Review }) => {
      if (path.startsWith('/apis/ballast.dev')) return { text: discovery(path) };
      const { verb, resource, name } = body.spec.resourceAttributes;
      const isAllowed =
        resource === 'clusterroles' && name === NAME && allowed.includes(verb ?? '');
      return { text: JSON.stringify({ status: { allowed: isAllowed } }) };
    },
    get: async (): Promise<KubeObject | null> =>
      role && ({ metadata: { name: NAME, uid: 'r', ...role } } as KubeObject),
    apply: async (_ref: ResourceRef, manifest: Manifest) => {
      said.push(manifest);
      if (refuses !== undefined) throw refuses;
      return manifest;
    },
  };
  await tieRole(kube as unknown as KubeClient, own, signal);
  return said;
}

/** The stored version is not the one that comes first. */
function discovery(path: string): string {
  const storageVersionHash = hashOf('ballast.dev', 'v1beta1', 'StorageMigration');
  const resource = { name: 'storagemigrations', kind: 'StorageMigration', storageVersionHash };
  const versions = ['v1alpha1', 'v1beta1'].map((version) => ({ version }));
  return JSON.stringify(path === '/apis/ballast.dev' ? { versions } : { resources: [resource] });
}

interface Review {
  readonly spec: { readonly resourceAttributes: Readonly<Record<string, string>> };
}

const ofMigration = {
  apiVersion: 'ballast.dev/v1beta1',
  kind: 'StorageMigration',
  name: migrationName,
  uid,
};

const refused = (code: number, reason: string): Error => {
  const ref = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' };
  const about = { verb: 'patch', ref, name: NAME } as const;
  return errorFromAnswer(about, readStatus(code, JSON.stringify({ reason, message: reason })));
};

test('the migration becomes the owner of that very role, which is else as it was', async () => {
  expect(await applied({})).toEqual([
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: NAME, uid: 'r', ownerReferences: [ofMigration] },
    },
  ]);
});

test('the migration that owns it in another version than is stored is named in that', async () => {
  const before = { ...ofMigration, apiVersion: 'ballast.dev/v1alpha1' };
  const [written] = await applied({ role: { ownerReferences: [before] } });
  expect(written?.metadata['ownerReferences']).toEqual([ofMigration]);
});

test.each<[string, Server]>([
  ['the rights are to stay', { allowed: [] }],
  ['it may look alone', { allowed: ['get'] }],
  ['the rights come from another role', { role: null }],
  ['it owns the role already', { role: { ownerReferences: [ofMigration] } }],
])('nothing is written where %s', async (_where, server) => {
  expect(await applied(server)).toEqual([]);
});

test('an admission webhook that refuses it keeps nothing from being migrated', async () => {
  expect(await applied({ refuses: refused(403, 'Forbidden') })).toHaveLength(1);
  await expect(applied({ refuses: new Error('a bug') })).rejects.toThrow('a bug');
});
