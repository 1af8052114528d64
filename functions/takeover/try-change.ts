// Asks the API server whether it would take a change, and why not: by a right, a policy or a
// webhook. Nothing is changed by that.
import { cut } from '../../shared/cut.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { Takeover } from './object.ts';
import { isOfWebhook } from './of-webhook.ts';
import { isUndoing } from './records.ts';

const WHY_BYTES_MAX = 1_000;

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
    return cut(error.message, WHY_BYTES_MAX);
  }
}

/** Whether this step of a plan is next, and nobody wants it taken back. */
export function isNext({ spec, status: { work, steps } }: Takeover, step: string): boolean {
  if (work === undefined || isUndoing(work) || spec.rollback === true) return false;
  return steps?.at(-1)?.name === step;
}

/** Also a webhook that nobody serves, or that takes no dry run. */
const isRefusal = (error: unknown): error is Error =>
  isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID', 'KUBE_BAD_REQUEST') || isOfWebhook(error);
