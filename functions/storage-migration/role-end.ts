// The end of the rights on one kind: the ClusterRole that `npm run migrate` printed gets the
// StorageMigration as its owner, and Kubernetes collects it when that is gone.
import { ownRoleRight } from '../../shared/api/migration-rights.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { apiVersionOf, type OwnerReference } from '../../shared/kube/objects.ts';
import { isAllowed } from './allowed.ts';
import { type Migration, resourceOf } from './migration.ts';
import { ownerOf } from './owner.ts';

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
  migration: Migration,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const role = await kube.get(CLUSTER_ROLES, { name }, { signal });
  if (role === null) return;
  const owner = await ownerOf(kube, migration, signal);
  const isIt = ({ uid, apiVersion }: OwnerReference): boolean =>
    uid === owner.uid && apiVersion === owner.apiVersion;
  if (role.metadata.ownerReferences?.some(isIt)) return;
  await kube.apply(
    CLUSTER_ROLES,
    {
      apiVersion: apiVersionOf(CLUSTER_ROLES),
      kind: 'ClusterRole',
      // With the uid, one that went meanwhile is not made anew.
      metadata: { name, uid: role.metadata.uid, ownerReferences: [owner] },
    },
    { force: false, signal },
  );
}
