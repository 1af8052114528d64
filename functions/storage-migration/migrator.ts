// The other migrators that may do the rewriting: where each takes its orders, how an order reads,
// and what to do where it is not served.
import { ORDER_GROUPS, ORDERS, type OtherMode } from '../../shared/api/storage-migration.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { ResourceRef } from '../../shared/kube/objects.ts';
import { servedResource } from '../../shared/kube/storage-version.ts';
import type { Reason } from '../../shared/kube/conditions.ts';

interface Migrator {
  /** The first that is served is used. */
  readonly versions: readonly string[];
  /** The `resource` field in the spec of its object. */
  readonly resourceOf: (ref: ResourceRef) => object;
  readonly remedy: string;
}

const MIGRATORS: Readonly<Record<OtherMode, Migrator>> = {
  InTree: {
    versions: ['v1', 'v1beta1'],
    resourceOf: ({ group, resource }) => ({ group, resource }),
    remedy:
      'switch its API on, and the feature gate StorageVersionMigrator of API server and ' +
      'controller manager',
  },
  Community: {
    versions: ['v1alpha1'],
    resourceOf: ({ group, version, resource }) => ({ group, version, resource }),
    remedy: 'install kube-storage-version-migrator',
  },
};

export const ORDER_KIND = 'StorageVersionMigration';

export const orderedResource = (mode: OtherMode, ref: ResourceRef): object =>
  MIGRATORS[mode].resourceOf(ref);

export async function servedMigrator(
  kube: KubeClient,
  mode: OtherMode,
  signal: AbortSignal,
): Promise<ResourceRef | undefined> {
  const [group, { versions }] = [ORDER_GROUPS[mode], MIGRATORS[mode]];
  for (const version of versions) {
    const ref = { group, version, resource: ORDERS };
    if ((await servedResource(kube, ref, { signal })) !== undefined) return ref;
  }
  return undefined;
}

export function modeUnavailable(mode: OtherMode): Reason {
  const [group, { versions, remedy }] = [ORDER_GROUPS[mode], MIGRATORS[mode]];
  const message =
    `spec.mode is ${mode}, and the API server serves no ${ORDERS}.${group} in ` +
    `${versions.join(' or ')}: ${remedy}, or set spec.mode to Ballast.`;
  return { reason: 'ModeUnavailable', message };
}
