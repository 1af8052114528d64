// Lists objects by their labels, and tells whose they are: others may have made some with the same.
import type { KubeClient } from '../../shared/kube/client.ts';
import type { KubeObject, ResourceRef } from '../../shared/kube/objects.ts';

/** An operator makes nine at most. */
export const OBJECTS_PER_PAGE = 100;

export async function* labelled(
  kube: KubeClient,
  ref: ResourceRef,
  where: { readonly namespace: string; readonly labelSelector: string },
  signal: AbortSignal,
): AsyncGenerator<KubeObject> {
  const options = { ...where, limit: OBJECTS_PER_PAGE, signal };
  for await (const { items } of kube.pages(ref, options)) yield* items;
}

export const belongsTo = ({ metadata }: KubeObject, owner: string | undefined): boolean =>
  metadata.ownerReferences?.some(({ uid }) => uid === owner) === true;
