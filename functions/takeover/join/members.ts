// The list of members while new ones join the old ones, and how each of them is, as those tell it
// whom a quorum has heard. Pure.
import type { TakeoverWork } from '../../../shared/api/takeover.ts';
import { hexOf } from '../../../shared/etcd/admin/ids.ts';
import type { EtcdMember } from '../../../shared/etcd/admin/members.ts';
import type { LegacyAnswer } from '../../../shared/etcd/legacy.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import { listed, waitFor } from '../../../shared/stateful/decision.ts';
import { answersOf } from '../answers.ts';
import type { Decision } from '../decision.ts';
import type { State } from '../state.ts';

/** A member in the list. */
export interface Place {
  readonly id: string;
  readonly name: string;
  readonly side: 'Old' | 'New' | 'Strange';
  /** It has told the others its name. */
  readonly hasStarted: boolean;
  /** It answers, and has what the leader has: a read that it confirmed waits for that. */
  readonly isWell: boolean;
}

export interface View {
  readonly places: readonly Place[];
  readonly leaderId: string | undefined;
}

export function viewOf(state: State, work: TakeoverWork): View | Reason {
  const answers = answersIn(state, work).filter(({ isQuorate }) => isQuorate);
  const [first] = answers;
  if (first === undefined) return NO_QUORUM;
  if (new Set(answers.map(({ members }) => idsOf(members))).size > 1) return LISTS_DIFFER;
  const well = new Set(answers.map(({ status }) => status.header.memberId));
  const places = first.members.map((member) => placeOf(member, work, well));
  return { places, leaderId: first.status.leaderId };
}

const NO_QUORUM: Reason = {
  reason: 'NoQuorum',
  message:
    'No member says that a quorum stands, so that nobody can join or leave. Bring members back; ' +
    'it goes on when one stands.',
};

/** A change is known to all within a moment. */
const LISTS_DIFFER: Reason = {
  reason: 'MembersMove',
  message: 'Its members do not tell one list of members yet.',
};

/** Answers of both sides; whoever is of another cluster does not count. */
function answersIn(state: State, { clusterId }: TakeoverWork): readonly LegacyAnswer[] {
  const fresh = (state.joining?.fresh ?? []).flatMap(({ asked }) =>
    'status' in asked ? [asked] : [],
  );
  const old = answersOf(state).map(({ answer }) => answer);
  return [...old, ...fresh].filter(({ status }) => hexOf(status.header.clusterId) === clusterId);
}

const idsOf = (members: readonly EtcdMember[]): string =>
  members
    .map(({ id }) => id)
    .toSorted()
    .join(' ');

function placeOf(
  { id, name, peerUrls }: EtcdMember,
  { oldMembers = [], newMembers = [] }: TakeoverWork,
  well: ReadonlySet<string>,
): Place {
  const how = { hasStarted: name !== '', isWell: well.has(id) };
  const old = oldMembers.find((one) => one.id === hexOf(id));
  if (old !== undefined) return { id, name: old.name, side: 'Old', ...how };
  // Until it has started it has no name in the list.
  const fresh = newMembers.find(({ peerUrl }) => peerUrls.includes(peerUrl));
  if (fresh !== undefined) return { id, name: fresh.name, side: 'New', ...how };
  return { id, name: name || `an unstarted member ${hexOf(id)}`, side: 'Strange', ...how };
}

export const placesOn = ({ places }: View, side: Place['side']): readonly Place[] =>
  places.filter((place) => place.side === side);

/** Members that were to join, in their order, as far as they are in the list. */
export const joinedIn = (view: View, { newMembers = [] }: TakeoverWork) =>
  newMembers.map((member) => ({
    member,
    place: placesOn(view, 'New').find(({ name }) => name === member.name),
  }));

/** All that were to join are there, and have what the leader has. */
export const areJoined = (view: View | Reason, work: TakeoverWork): view is View =>
  !('reason' in view) && joinedIn(view, work).every(({ place }) => place?.isWell === true);

/** Members that nobody knows: a person has to say what they are. */
export function strangeIn(view: View): Reason | undefined {
  const names = placesOn(view, 'Strange').map(({ name }) => name);
  if (names.length === 0) return undefined;
  const message =
    `Of the members ${listed(names)} is neither one of before nor one that was to join. Remove ` +
    'it (etcdctl member remove), and it goes on.';
  return { reason: 'StrangeMember', message };
}

export function awayReason(away: readonly Pick<Place, 'name'>[], why: string): Reason {
  const message =
    `Of the members ${listed(away.map(({ name }) => name))} does not answer or is behind, and ` +
    `${why} Bring it back, and it goes on.`;
  return { reason: 'MembersDown', message };
}

/** Without a quorum a person has to look; a list that moves is another one in a moment. */
export const unknownNow = (next: string, why: Reason): Decision =>
  waitFor(next, [why], why === NO_QUORUM ? why : undefined);
