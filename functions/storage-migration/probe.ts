// Whether objects that could not be written can be by now: asked of the API server without writing.
import type { FailedObject } from '../../shared/api/storage-migration.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import type { Target } from './target.ts';

/** True as soon as one of them would be taken, or is no more. */
export async function probeFailed(
  kube: KubeClient,
  { ref, kind }: Target,
  failed: readonly FailedObject[],
  signal: AbortSignal,
): Promise<boolean> {
  for (const { name, namespace } of failed) {
    const place = namespace === undefined ? { name } : { name, namespace };
    try {
      const object = await kube.get(ref, place, { signal, isOnce: true });
      if (object === null) return true;
      const { uid, resourceVersion } = object.metadata;
      const { apiVersion } = object;
      const manifest = { apiVersion, kind, metadata: { ...place, uid, resourceVersion } };
      const options = { fieldManager: FIELD_MANAGER, force: false, dryRun: true, isOnce: true };
      await kube.apply(ref, manifest, { ...options, signal });
      return true;
    } catch (error) {
      // As before; the next one may differ.
      if (!isKubeError(error)) throw error;
    }
  }
  return failed.length === 0;
}
