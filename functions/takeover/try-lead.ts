// Asks the API server whether it would lead the Service of the clients over: what it refuses is
// known before writers wait, and before it is noted that nothing leads back. Nothing is changed by
// that.
import { cut } from '../../shared/cut.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { Takeover } from './object.ts';
import { isOfWebhook } from './of-webhook.ts';
import { isUndoing } from './records.ts';
import type { FoundService } from './state.ts';

const WHY_BYTES_MAX = 1_000;

type Patches = Pick<KubeClient, 'patch'>;

/** `lead`: the patch as it would be made. */
export async function tryLead(
  kube: Patches,
  takeover: Takeover,
  client: FoundService | undefined,
  lead: (kube: Patches, client: FoundService) => Promise<unknown>,
): Promise<Reason | undefined> {
  // Others tell what is wrong with one that does not go with the legacy object.
  if (client?.isOwned !== true || !isTime(takeover)) return undefined;
  const dry: Patches = {
    patch: async (ref, target, patch, options) =>
      kube.patch(ref, target, patch, { ...options, dryRun: true, isOnce: true }),
  };
  try {
    await lead(dry, client);
    return undefined;
  } catch (error) {
    // It is another one by now, and the next look asks anew.
    if (isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) return undefined;
    if (!isRefusal(error)) throw error;
    return refused(takeover, client, error.message);
  }
}

/** For a plan, and when it is next. */
function isTime({ spec, status: { work, steps } }: Takeover): boolean {
  if (work === undefined) return true;
  return steps?.at(-1)?.name === 'SwitchService' && !isUndoing(work) && spec.rollback !== true;
}

/** A right, a policy or a webhook says no, also one that nobody serves or that takes no dry run. */
const isRefusal = (error: unknown): error is Error =>
  isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID', 'KUBE_BAD_REQUEST') || isOfWebhook(error);

function refused({ namespace, spec }: Takeover, { name }: FoundService, why: string): Reason {
  const message =
    `Service ${namespace}/${name} could not be led to ${spec.into.name}: ` +
    `${cut(why, WHY_BYTES_MAX)} Have it let the function do that, or lead clients to another ` +
    'Service by hand. What was begun can be rolled back (spec.rollback: true).';
  return { reason: 'ServiceRefused', message };
}
