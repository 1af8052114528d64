// Objects that were printed for kubectl, applied without it.
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';

/** Each by its own kind, as the API server names it. */
export async function applyManifests(
  kube: KubeClient,
  manifests: readonly Manifest[],
): Promise<void> {
  for (const manifest of manifests) {
    const { apiVersion, kind } = manifest;
    const resource = await kube.resourceFor(apiVersion, kind);
    if (resource === undefined) throw new Error(`The API server has no ${kind}.`);
    await kube.apply(resource, manifest, { force: true });
  }
}
