// Members of two clusters in one: while one of the legacy cluster is counted the takeover alone
// changes the list. One of ours that it has added is started here, and all else waits, so that
// nobody is added, removed or restarted by two at once. Pure.
import type { OldMember } from '../../shared/api/etcd-joins.ts';
import { ORDINALS } from '../../shared/api/etcd-names.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import { bringBackMissing } from './birth.ts';
import { markClaims } from './claim-marks.ts';
import type { Decision } from './decision.ts';
import type { Member } from './etcd-state.ts';
import { refusalToJoin } from './join-first.ts';
import { isForeign, joiningBootstrap, joiningReason, nextToJoin, oldLeft } from './joining.ts';
import { existingBootstrap, makePeer } from './peer-spec.ts';
import { forget, remember } from './records.ts';
import { foreignReason, LOST, unknownReason } from './safety.ts';
import { openStart, startOfMember } from './starts.ts';
import { byOrdinal, claimOf, membersOf, namesOf, peerNameOf, peerOf, type State } from './state.ts';

/** Until the last member of before has left. */
export function joinOld(state: State): Decision | undefined {
  const { clusterId, joining: old } = state.cluster.status;
  if (clusterId === undefined || old === undefined) return undefined;
  const next = nextToJoin(old);
  if (state.etcd.list === undefined) return bringBackMissing(state) ?? awaitList(state, old, next);
  const unknown = unknownReason(state);
  if (unknown !== undefined) return waitFor(next, [unknown], unknown);
  const left = oldLeft(state, old);
  if (left.length === 0) return forget(state, ['joining'], `${next}: all of them have left`);
  if (left.length < old.length) return remember(state, { joining: left }, next);
  const foreign = membersOf(state).find((member) => isForeign(state, old, member));
  return (
    markClaims(state) ??
    (foreign && needsPerson(next, foreignReason(state, foreign))) ??
    startListed(state, old, next) ??
    waitFor(next, [joiningReason(old)])
  );
}

const needsPerson = (next: string, trouble: Reason): Decision => waitFor(next, [trouble], trouble);

/** One of ours may be silent for a moment; without any nobody is left who could be asked. */
function awaitList(state: State, old: readonly OldMember[], next: string): Decision {
  const unknown = unknownReason(state);
  const reasons = [joiningReason(old), ...(unknown === undefined ? [] : [unknown])];
  if (state.peers.some(({ isOurs }) => isOurs)) return waitFor(next, reasons);
  const message =
    `No EtcdPeer of ${state.cluster.name} is left, and so nobody tells who the members are. ` +
    'Nothing is started: let the takeover turn back.';
  return waitFor(next, reasons, { reason: 'NoQuorum', message });
}

/** One after another, as they were added. */
function startListed(state: State, old: readonly OldMember[], next: string): Decision | undefined {
  const listed = membersOf(state).flatMap((member) => {
    const name = peerNameOf(state, member);
    return name === undefined || peerOf(state, name) !== undefined ? [] : [{ name, member }];
  });
  const [first] = listed.toSorted((a, b) => byOrdinal(a.name, b.name));
  if (first === undefined) return undefined;
  // It says its name once it has started.
  return first.member.name === ''
    ? start(state, old, first, next)
    : bringBack(state, first.name, next);
}

interface Listed {
  readonly name: string;
  readonly member: Member;
}

function start(
  state: State,
  old: readonly OldMember[],
  { name, member }: Listed,
  next: string,
): Decision {
  const refused = refusalToJoin(state, state.cluster.status.clusterId) ?? taken(state, name);
  if (refused !== undefined) return needsPerson(next, refused);
  const own = namesOf(state, membersOf(state)).toSorted(byOrdinal);
  const bootstrap = joiningBootstrap(state, old, own, startOfMember(name, member));
  const how = `${next}: start ${name}`;
  return openStart(state, bootstrap, how) ?? makePeer(state, name, bootstrap, how);
}

/** Why it cannot start with an empty volume, or be told of all. */
function taken(state: State, name: string): Reason | undefined {
  const count = membersOf(state).length;
  if (count > ORDINALS) {
    const message = `There are ${count} members, and nobody starts among more than ${ORDINALS}.`;
    return { reason: 'JoinsRefused', message };
  }
  const claim = claimOf(state, name) ?? state.strays.find(({ peer }) => peer === name);
  if (claim === undefined) return undefined;
  const message =
    `${claim.name} of a former member is there, and ${name} is to start with an empty volume. ` +
    'Delete it with its data.';
  return { reason: 'ClaimsUnmarked', message };
}

/** One that has started, and whose peer somebody deleted. */
function bringBack(state: State, name: string, next: string): Decision {
  const { clusterId } = state.cluster.status;
  const claim = claimOf(state, name);
  if (claim?.clusterId === clusterId && !claim?.isEnding) {
    const how = `Bring back ${name}`;
    return makePeer(state, name, existingBootstrap(state, [name]), how);
  }
  const message =
    `${name} is a member, and neither its EtcdPeer nor its data is there. It does not start, ` +
    'for it would have forgotten its votes: let the takeover turn back, or remove it with etcdctl.';
  return needsPerson(next, { reason: LOST, message });
}
