// Asks the API server whether it would lead the Service of the clients over: what it refuses is
// known before writers wait, and before it is noted that nothing leads back.
import type { Reason } from '../../shared/kube/conditions.ts';
import type { Takeover } from './object.ts';
import type { FoundService } from './state.ts';
import { type Changes, isNext, tryChange } from './try-change.ts';

/** `lead`: the patch as it would be made. */
export async function tryLead(
  kube: Changes,
  takeover: Takeover,
  client: FoundService | undefined,
  lead: (kube: Changes, client: FoundService) => Promise<unknown>,
): Promise<Reason | undefined> {
  // Others tell what is wrong with one that does not go with the legacy object.
  if (client?.isOwned !== true || !isTime(takeover)) return undefined;
  const why = await tryChange(kube, async (dry) => lead(dry, client));
  return why === undefined ? undefined : refused(takeover, client, why);
}

/** For a plan, and when it is next. */
const isTime = (takeover: Takeover): boolean =>
  takeover.status.work === undefined || isNext(takeover, 'SwitchService');

function refused({ namespace, spec }: Takeover, { name }: FoundService, why: string): Reason {
  const message =
    `Service ${namespace}/${name} could not be led to ${spec.into.name}: ` +
    `${why} Have it let the function do that, or lead clients to another ` +
    'Service by hand. What was begun can be rolled back (spec.rollback: true).';
  return { reason: 'ServiceRefused', message };
}
