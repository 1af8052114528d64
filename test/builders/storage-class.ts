// A storage class that nobody provisions for: what the API server knows of it is enough.
import type { KubeClient } from '../../shared/kube/client.ts';

const STORAGE_CLASSES = {
  group: 'storage.k8s.io',
  version: 'v1',
  resource: 'storageclasses',
} as const;

export async function createStorageClass(
  kube: KubeClient,
  name: string,
  allowVolumeExpansion: boolean,
): Promise<void> {
  await kube.create(STORAGE_CLASSES, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner: 'example.com/none',
    allowVolumeExpansion,
  });
}
