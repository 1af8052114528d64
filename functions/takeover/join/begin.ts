// The first records of a plan in which members join, when it is confirmed: who is there, and who is
// to join. Pure.
import { memberPeerUrl } from '../../../shared/api/etcd-names.ts';
import type { NewMember } from '../../../shared/api/takeover.ts';
import { hexOf } from '../../../shared/etcd/admin/ids.ts';
import type { EtcdMember } from '../../../shared/etcd/admin/members.ts';
import { answersOf } from '../answers.ts';
import { firstRecords } from '../begin.ts';
import { newPeers, targetHash } from '../own-cluster.ts';
import type { Records } from '../records.ts';
import type { State } from '../state.ts';

export function firstRecordsToJoin(state: State, plan: string): Records {
  const { work, steps } = firstRecords(state, plan);
  const known = answersOf(state)[0]?.answer.members ?? [];
  const oldMembers = known.map(({ id, ...member }) => ({ ...addressOf(member), id: hexOf(id) }));
  const joining = { oldMembers, newMembers: newMembers(state), target: targetHash(state) };
  return { work: { ...work, ...joining }, steps };
}

/** One with another number of addresses is refused before. */
export const addressOf = ({
  name,
  peerUrls,
}: Pick<EtcdMember, 'name' | 'peerUrls'>): NewMember => ({
  name,
  peerUrl: peerUrls.length === 1 ? (peerUrls[0] ?? '') : '',
});

function newMembers(state: State): readonly NewMember[] {
  const { namespace, spec } = state.takeover;
  const cluster = spec.into.name;
  return newPeers(state).map((name) => {
    const peerUrl = memberPeerUrl({ namespace, cluster, peer: name }, { mode: 'None' });
    return { name, peerUrl };
  });
}
