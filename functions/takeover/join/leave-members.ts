// Members leave one after another, each by one of the other side and only while more than half of
// those that are left are well: who is away first, then who follows, and the leader last, once it
// has handed over. The old ones leave for good; on rollback it is the new ones. Pure.
import { waitFor } from '../../../shared/stateful/decision.ts';
import type { Records } from '../records.ts';
import type { State } from '../state.ts';
import type { JoinDecision } from './decision.ts';
import {
  areJoined,
  awayReason,
  joinedIn,
  type Place,
  placesOn,
  strangeIn,
  unknownNow,
  type View,
  viewOf,
} from './members.ts';
import { hasWayBack, withoutWayBack } from '../way-back.ts';

const NEXT = 'Let the old members leave';

/** Told by new members: an old one that has left does not know it. */
export function areLeft(state: State, { work }: Records): boolean {
  const view = viewOf(state, work);
  return !('reason' in view) && placesOn(view, 'Old').length === 0;
}

/** Noted before the first one leaves: nobody starts it again, so that nothing leads back. */
export function leaveMembers(state: State, { work, steps }: Records): JoinDecision {
  const view = viewOf(state, work);
  if ('reason' in view) return unknownNow(NEXT, view);
  const strange = strangeIn(view);
  if (strange !== undefined) return waitFor(NEXT, [strange], strange);
  if (!areJoined(view, work)) {
    const away = joinedIn(view, work).filter(({ place }) => place?.isWell !== true);
    const names = away.map(({ member }) => member);
    const blocker = awayReason(names, 'all that stay have to be there while others leave.');
    return waitFor(NEXT, [blocker], blocker);
  }
  if (hasWayBack(work)) {
    const noted = { work: withoutWayBack(work, state.nowMs), steps };
    return { step: { type: 'write-records', records: noted }, next: NEXT };
  }
  return leave(view, 'Old') ?? waitFor(NEXT, []);
}

/** Undefined once all of that side have left. */
export function leave(view: View, side: 'Old' | 'New'): JoinDecision | undefined {
  const member = nextOf(view, side);
  if (member === undefined) return undefined;
  const next = `Let ${member.name} leave`;
  const by = placesOn(view, side === 'Old' ? 'New' : 'Old').find(({ isWell }) => isWell);
  const rest = view.places.filter(({ id }) => id !== member.id);
  const away = rest.filter(({ isWell }) => !isWell);
  if (by === undefined || away.length * 2 >= rest.length) {
    const why = `without ${member.name} no more than half of them would be there.`;
    const blocker = awayReason(away, why);
    return waitFor(next, [blocker], blocker);
  }
  if (member.id !== view.leaderId) return { step: { type: 'remove-member', member, by }, next };
  const step = { type: 'move-leader', by: member, to: by } as const;
  return { step, next: `${next}: let ${by.name} lead` };
}

/** New ones leave in the order opposite to that in which they joined. */
function nextOf(view: View, side: 'Old' | 'New'): Place | undefined {
  const listed = placesOn(view, side);
  const all = side === 'Old' ? listed : listed.toReversed();
  const orderOf = ({ id, isWell }: Place): number => (id === view.leaderId ? 2 : isWell ? 1 : 0);
  return all.toSorted((one, other) => orderOf(one) - orderOf(other))[0];
}
