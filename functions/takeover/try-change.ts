// Asks the API server whether it would take a change, and why not: by a right, a policy or a
// webhook. Nothing is changed by that.
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { isOfWebhook } from './of-webhook.ts';

export type Changes = Pick<KubeClient, 'patch' | 'delete'>;

/** Undefined where it would be taken. */
export async function tryChange(
  kube: Changes,
  change: (dry: Changes) => Promise<unknown>,
): Promise<string | undefined> {
  const asked = { dryRun: true, isOnce: true } as const;
  const dry: Changes = {
    patch: async (ref, target, patch, options) =>
      kube.patch(ref, target, patch, { ...options, ...asked }),
    delete: async (ref, target, precondition, options) =>
      kube.delete(ref, target, precondition, { ...options, ...asked }),
  };
  try {
    await change(dry);
    return undefined;
  } catch (error) {
    // It is another one by now, and the next look asks anew.
    if (isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) return undefined;
    if (!isRefusal(error)) throw error;
    return error.message;
  }
}

/** Also a webhook that nobody serves, or that takes no dry run. */
const isRefusal = (error: unknown): error is Error =>
  isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID', 'KUBE_BAD_REQUEST') || isOfWebhook(error);
