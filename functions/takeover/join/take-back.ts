// Takes a takeover in which members join back, as long as no old one has left: clients are led to
// the old members, the new ones leave, and what was made is deleted with their claims. Pure.
import { waitFor } from '../../../shared/stateful/decision.ts';
import { awaitLate } from '../late.ts';
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
  const { legacy, joining, nowMs } = state;
  const { work } = records;
  if (legacy?.uid !== work.legacyUid || legacy.isEnding) {
    return waitFor(NEXT, [LEGACY_GONE], LEGACY_GONE);
  }
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

const LEGACY_GONE = {
  reason: 'LegacyGone',
  message:
    'The legacy EtcdCluster is gone, and its pods with it, so nothing leads back, and the new ' +
    'one is kept. Lead the Service of the clients to that (selector ballast.dev/etcd-cluster: ' +
    'its name), remove old members that are left in the list (etcdctl member remove), and delete ' +
    'this Takeover.',
};

/** A quorum stands, so that the old members serve whoever is led to them. */
function leadBack(state: State, { work }: Records): JoinDecision | undefined {
  const { client } = state;
  if (client?.uid !== work.service.uid || !isSwitched(state)) return undefined;
  const next = `Lead Service ${client.name} back`;
  return { step: { type: 'lead-back', service: client }, next };
}
