// The end of the rights on one kind: the ClusterRole that `npm run migrate` printed gets the
// StorageMigration as its owner, and Kubernetes collects it when that is gone.
import { ownRoleRight } from '../../shared/api/migration-rights.ts';
import { STORAGE_MIGRATIONS } from '../../shared/api/storage-migration.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { apiVersionOf } from '../../shared/kube/objects.ts';
import { isAllowed } from './allowed.ts';
import { type Migration, resourceOf } from './migration.ts';

const CLUSTER_ROLES = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource: 'clusterroles',
} as const;

/** Nothing is done where the rights are to stay, or are others: those are taken back by hand. */
export async function tieRole(
  kube: KubeClient,
  migration: Migration,
  signal: AbortSignal,
): Promise<void> {
  const right = ownRoleRight(resourceOf(migration));
  for (const verb of right.verbs) {
    if (!(await isAllowed(kube, right, verb, signal))) return;
  }
  try {
    await tie(kube, migration, right.name ?? '', signal);
  } catch (error) {
    // Whatever refuses it, such as an admission webhook, does not keep objects from being migrated.
    if (!isKubeError(error) || error.answer === undefined) throw error;
  }
}

async function tie(
  kube: KubeClient,
  { object, name: owner }: Migration,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const role = await kube.get(CLUSTER_ROLES, { name }, { signal });
  const { uid } = object.metadata;
  if (role === null || role.metadata.ownerReferences?.some((one) => one.uid === uid)) return;
  const apiVersion = apiVersionOf(STORAGE_MIGRATIONS);
  const ownerReferences = [{ apiVersion, kind: 'StorageMigration', name: owner, uid }];
  await kube.apply(
    CLUSTER_ROLES,
    {
      apiVersion: apiVersionOf(CLUSTER_ROLES),
      kind: 'ClusterRole',
      // With the uid, one that went meanwhile is not made anew.
      metadata: { name, uid: role.metadata.uid, ownerReferences },
    },
    { force: false, signal },
  );
}
