// The leader hands over before anything is done to it. Pure.
import type { Decision } from './decision.ts';
import { answerOf, leaderOf, memberOf, type State } from './state.ts';

/** To the healthy voter with the longest log. */
export function moveLeader(state: State, name: string, next: string): Decision | undefined {
  const leader = leaderOf(state);
  if (leader === undefined || memberOf(state, name)?.id !== leader.id) return undefined;
  const [to] = state.peers
    .flatMap((peer) => {
      const member = memberOf(state, peer.name);
      const answer = member === undefined ? undefined : answerOf(state, member);
      const canLead = member !== undefined && !member.isLearner && member.id !== leader.id;
      return canLead && answer !== undefined ? [{ peer, member, index: answer.raftIndex }] : [];
    })
    .toSorted((a, b) => b.index - a.index);
  // A single member has nobody to hand over to.
  if (to === undefined) return undefined;
  const step = {
    type: 'move-leader',
    from: name,
    to: to.peer.name,
    memberId: to.member.id,
  } as const;
  return { step, next: `${next}: let ${to.peer.name} lead` };
}
