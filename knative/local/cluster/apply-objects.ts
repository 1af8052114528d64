// Applies the plain Kubernetes objects of the manifests (namespaces, accounts, RBAC) in their
// order, as `kubectl apply -k` would.
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { ClusterObject } from '../manifests/wiring.ts';

export async function applyObjects(
  kube: KubeClient,
  objects: readonly ClusterObject[],
): Promise<void> {
  for (const { file, object } of objects) {
    const { apiVersion, kind } = object;
    const resource = await kube.resourceFor(apiVersion, kind);
    if (resource === undefined)
      throw new Error(`${file}: the API server has no ${apiVersion} ${kind}`);
    await kube.apply(resource, object, { force: true });
  }
}
