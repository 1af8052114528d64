// New members join the old ones as members that vote, one after another: the next one only when all
// in the list answer and have what the leader has. The EtcdCluster is made once its first member is
// in the list. Pure.
import { claimName } from '../../../shared/api/etcd-names.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import { listed, waitFor } from '../../../shared/stateful/decision.ts';
import { makeOwnCluster } from '../own-cluster.ts';
import type { Records } from '../records.ts';
import type { State } from '../state.ts';
import type { JoinDecision } from './decision.ts';
import {
  awayReason,
  joinedIn,
  placesOn,
  strangeIn,
  unknownNow,
  type View,
  viewOf,
} from './members.ts';

const NEXT = 'Let the new members join';

export function joinMembers(state: State, records: Records): JoinDecision {
  const view = viewOf(state, records.work);
  if ('reason' in view) return unknownNow(NEXT, view);
  const strange = strangeIn(view);
  if (strange !== undefined) return waitFor(NEXT, [strange], strange);
  return (
    makeCluster(state, records, view) ?? awaitStart(state, records, view) ?? addNext(view, records)
  );
}

/** Not before its first member is in the list: nobody would tell that one whom it joins. */
function makeCluster(state: State, { work }: Records, view: View): JoinDecision | undefined {
  const cluster = state.joining?.cluster;
  const isEarly = placesOn(view, 'New').length === 0;
  if (cluster === undefined && isEarly) return undefined;
  const gone = cluster === undefined ? goneWithData(state, view) : undefined;
  if (gone !== undefined) return waitFor('Make the EtcdCluster', [gone], gone);
  return makeOwnCluster(state, work, cluster);
}

/**
 * Made anew the EtcdCluster would start its first member under the id that it had, on an empty
 * volume: it would have forgotten its votes.
 */
function goneWithData({ joining, takeover }: State, view: View): Reason | undefined {
  const claims = (joining?.memberClaims ?? []).filter(({ isEnding }) => !isEnding);
  const lost = placesOn(view, 'New').filter(
    ({ name, hasStarted }) => hasStarted && !claims.some((claim) => claim.name === claimName(name)),
  );
  if (lost.length === 0) return undefined;
  const message =
    `Somebody deleted EtcdCluster ${takeover.spec.into.name} and the claims of ` +
    `${listed(lost.map(({ name }) => name))}, which have been members already and must not start ` +
    'without their data. Nothing is made anew: roll it back (spec.rollback: true), and create ' +
    'another Takeover.';
  return { reason: 'EtcdClusterGone', message };
}

/** A pod starts within it, and copies the data; later a person has to look what keeps it. */
const STARTS_WITHIN_MS = 180_000;

function awaitStart(
  { joining, nowMs }: State,
  { work, steps }: Records,
  view: View,
): JoinDecision | undefined {
  const joined = joinedIn(view, work);
  const at = joined.findIndex(({ place }) => place?.isWell === false);
  const name = joined[at]?.member.name;
  if (name === undefined) return undefined;
  const says = joining?.cluster?.says ?? 'it is not there.';
  const message =
    `${name} is a member, and does not answer yet or is behind: it counts, so that none of the ` +
    `others may be away. The EtcdCluster says: ${says}`;
  const waits = { reason: 'MemberStarting', message };
  const began = Date.parse(steps.find((one) => one.name === 'JoinMembers')?.startedAt ?? '');
  const isLate = nowMs - began > STARTS_WITHIN_MS * (at + 1);
  return waitFor(`Let ${name} start`, [waits], isLate ? waits : undefined);
}

function addNext(view: View, { work }: Records): JoinDecision {
  const away = view.places.filter(({ isWell }) => !isWell);
  if (away.length > 0) {
    const blocker = awayReason(away, 'a member that joins counts before it has started.');
    return waitFor(NEXT, [blocker], blocker);
  }
  const member = joinedIn(view, work).find(({ place }) => place === undefined)?.member;
  const [by] = placesOn(view, 'Old');
  if (member === undefined || by === undefined) return waitFor(NEXT, []);
  return { step: { type: 'add-member', member, by }, next: `Let ${member.name} join` };
}
