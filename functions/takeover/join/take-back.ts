// Takes a takeover in which members join back, as long as no old one has left: clients are led to
// the old members, the new ones leave, and what was made is deleted with their claims. Pure.
import { waitFor } from '../../../shared/stateful/decision.ts';
import { awaitLate } from '../late.ts';
import { awaitLegacy } from '../legacy-gone.ts';
import { isSwitched } from '../lead-over.ts';
import { type Records } from '../records.ts';
import { refuseAccess } from '../refuse-secrets.ts';
import { endNow } from '../stages.ts';
import type { State } from '../state.ts';
import { restartOperators } from '../stop-operators.ts';
import { removedCluster } from '../removed.ts';
import type { JoinDecision } from './decision.ts';
import { leave } from './leave-members.ts';
import { unknownNow, viewOf } from './members.ts';

const NEXT = 'Roll it back';

export function takeBackJoin(state: State, records: Records): JoinDecision {
  const { joining, nowMs } = state;
  const { work } = records;
  const held = awaitLegacy(state, work, OLD_MEMBERS);
  if (held !== undefined) return held;
  const [unasked] = refuseAccess(state);
  if (unasked !== undefined) return waitFor(NEXT, [unasked], unasked);
  const view = viewOf(state, work);
  if ('reason' in view) return unknownNow(NEXT, view);
  return (
    leadBack(state, records) ??
    leave(view, 'New') ??
    removedCluster(state, records, joining) ??
    // An operator would see a member that comes late.
    awaitLate(records, nowMs) ??
    restartOperators(state, work) ??
    endNow(records, nowMs)
  );
}

const OLD_MEMBERS = ' Remove old members that are left in the list (etcdctl member remove).';

/** A quorum stands, so that the old members serve whoever is led to them. */
function leadBack(state: State, { work }: Records): JoinDecision | undefined {
  const { client } = state;
  if (client?.uid !== work.service.uid || !isSwitched(state)) return undefined;
  const next = `Lead Service ${client.name} back`;
  return { step: { type: 'lead-back', service: client }, next };
}
