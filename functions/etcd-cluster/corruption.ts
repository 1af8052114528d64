// The evidence of corruption: which member differs from the others, and whether that is certain.
// An alarm alone tells little, because the leader raises it for whoever differs from itself. Pure.
import { hexOf } from '../../shared/etcd/admin/ids.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { listed } from '../../shared/stateful/decision.ts';
import type { Alarm, Hash, Member } from './etcd-state.ts';
import { blockersOf, nameOf } from './safety.ts';
import { alarmsOf, byOrdinal, peerNameOf, type State, votersOf } from './state.ts';

/** The reason why such a member leaves. */
export const CORRUPT = 'Its data differs from that of the other members.';

export const corruptAlarms = (state: Pick<State, 'etcd'>): readonly Alarm[] =>
  alarmsOf(state, 'CORRUPT');

const keyOf = ({ hash, compactRevision }: Hash): string => `${hash} ${compactRevision}`;

interface Compared {
  readonly member: Member;
  readonly hash: Hash | undefined;
}

const comparedOf = (state: State): readonly Compared[] =>
  votersOf(state).map((member) => ({
    member,
    hash: state.etcd.upkeep?.hashes?.told.get(peerNameOf(state, member) ?? ''),
  }));

/** The hash on which more than half of all voters agree. */
function agreedHash(compared: readonly Compared[]): Hash | undefined {
  return compared
    .flatMap(({ hash }) => hash ?? [])
    .find((one) => {
      const same = compared.filter(({ hash }) => hash !== undefined && keyOf(hash) === keyOf(one));
      return same.length > compared.length / 2;
    });
}

/** True when every voter has told the same. */
export function allAgree(state: State): boolean {
  const compared = comparedOf(state);
  const [first] = compared;
  if (first?.hash === undefined) return false;
  const key = keyOf(first.hash);
  return compared.every(({ hash }) => hash !== undefined && keyOf(hash) === key);
}

/** The member that differs from a quorum of the others, or why that is not certain. */
export function corruptMember(state: State): Member | Reason {
  const compared = comparedOf(state);
  const agreed = agreedHash(compared);
  if (agreed === undefined) return unsure(state, compared, NOBODY_AGREES);
  const [differing] = compared
    .filter(({ hash }) => hash?.compactRevision === agreed.compactRevision)
    .filter(({ hash }) => hash?.hash !== agreed.hash)
    .toSorted((a, b) => byOrdinal(nameOf(state, a.member), nameOf(state, b.member)));
  if (differing !== undefined) return differing.member;
  return unsure(state, compared, allAgree(state) ? ALL_AGREE : NOT_ALL_TOLD);
}

const NOBODY_AGREES =
  'No quorum of them agrees, so nobody knows which data is right: nothing is removed. Compare ' +
  'them with etcdctl, and restore a backup into another EtcdCluster if need be.';
const NOT_ALL_TOLD =
  'None that can be compared differs from the others. It is looked at again until all can be.';
const ALL_AGREE =
  'All have the same keys now: see the log of the member for what etcd found, and end the alarm ' +
  'with etcdctl alarm disarm if it was mended.';

function unsure(state: State, compared: readonly Compared[], why: string): Reason {
  const { revision = 'none', missing = new Map<string, string>() } =
    state.etcd.upkeep?.hashes ?? {};
  const told = compared.map(({ member, hash }) => {
    const name = nameOf(state, member);
    if (hash === undefined) return `${name} tells none (${missing.get(name) ?? 'no answer'})`;
    return `${name} has ${hash.hash} since ${hash.compactRevision}`;
  });
  const raisedFor = corruptAlarms(state).map(({ memberId }) => alarmed(state, memberId));
  const message =
    `etcd has raised the alarm CORRUPT for ${listed(raisedFor)}, and takes no writes. Hashes of ` +
    `the keys at revision ${revision}: ${listed(told)}. ${why}`;
  return { reason: 'AlarmCORRUPT', message };
}

function alarmed(state: State, memberId: string): string {
  if (memberId === '0') return 'a member that it cannot tell';
  const member = votersOf(state).find(({ id }) => id === memberId);
  return member === undefined ? `member ${hexOf(memberId)}` : nameOf(state, member);
}

/**
 * Blockers of removing the member with this id because its data differs. The alarm makes every pod
 * unready, may stand for a member that is well, and lets no learner vote: none of that counts.
 */
export function corruptionBlockers(state: State, id: string): readonly Reason[] {
  const found = corruptMember(state);
  if ('reason' in found) return [found];
  if (found.id !== id) {
    const message = `${nameOf(state, found)} differs too, and is the first to be replaced.`;
    return [{ reason: 'AlarmCORRUPT', message }];
  }
  const calm: State = {
    ...state,
    pods: state.pods.map((pod) => ({ ...pod, isReady: true })),
    etcd: { ...state.etcd, alarms: [], list: withoutOthers(state, id) },
  };
  return blockersOf(calm, id).filter(({ reason }) => reason !== 'LearnerUnfinished');
}

/** Others that are corrupt as well wait for their turn: a quorum agrees without them. */
function withoutOthers(state: State, id: string): State['etcd']['list'] {
  const compared = comparedOf(state);
  const agreed = agreedHash(compared);
  const corrupt = compared.flatMap(({ member, hash }) =>
    hash?.compactRevision === agreed?.compactRevision && hash?.hash !== agreed?.hash
      ? member.id
      : [],
  );
  const { list } = state.etcd;
  const stays = (one: Member): boolean => one.id === id || !corrupt.includes(one.id);
  return list && { ...list, members: list.members.filter(stays) };
}
