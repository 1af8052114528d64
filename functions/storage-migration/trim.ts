// The list of stored versions in the CRD's status: taken off it is what is proved unused, and put
// back is what somebody else took off without proof. Both only as the CRD was when it was read.
import type { KubeClient } from '../../shared/kube/client.ts';
import { CRDS } from '../../shared/kube/crds.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { Crd } from './target.ts';

/** False when the CRD has moved on since it was read: look again. */
export async function setStoredVersions(
  kube: KubeClient,
  { name, uid, resourceVersion }: Crd,
  storedVersions: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  // The API server checks nothing of this list but the precondition.
  const body = { metadata: { uid, resourceVersion }, status: { storedVersions } };
  const target = { name, subresource: 'status' };
  try {
    await kube.patch(CRDS, target, { type: 'merge', body }, { signal });
    return true;
  } catch (error) {
    if (isKubeError(error, 'KUBE_CONFLICT')) return false;
    throw error;
  }
}
