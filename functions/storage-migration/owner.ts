// The owner of what is made for a StorageMigration: it is named in the version that is stored,
// which is the last to go, so that the garbage collector finds it.
import { STORAGE_MIGRATIONS } from '../../shared/api/storage-migration.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { apiVersionOf, type OwnerReference } from '../../shared/kube/objects.ts';
import { announcedVersion } from '../../shared/kube/storage-version.ts';
import type { Migration } from './migration.ts';

export async function ownerOf(
  kube: KubeClient,
  { name, object }: Pick<Migration, 'name' | 'object'>,
  signal: AbortSignal,
): Promise<OwnerReference> {
  const stored = await announcedVersion(kube, STORAGE_MIGRATIONS, { signal });
  const { version } = stored ?? STORAGE_MIGRATIONS;
  const apiVersion = apiVersionOf({ ...STORAGE_MIGRATIONS, version });
  return { apiVersion, kind: 'StorageMigration', name, uid: object.metadata.uid };
}
