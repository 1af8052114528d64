// The first records of a plan of an EtcdCluster, when it is confirmed. Pure.
import type { TakeoverWork } from '../../shared/api/takeover.ts';
import { hexOf } from '../../shared/etcd/admin/ids.ts';
import { answersOf } from './answers.ts';
import { confirmedWork, type Records } from './records.ts';
import type { State } from './state.ts';

export function firstRecords(state: State, plan: string): Records {
  const clusterId = answersOf(state)[0]?.answer.status.header.clusterId;
  if (clusterId === undefined) throw new Error('a plan that nobody has answered has no id');
  return { work: { ...workOf(state, plan), clusterId: hexOf(clusterId) }, steps: [] };
}

/** The part for which nobody has to answer. */
export function workOf(state: State, plan: string): TakeoverWork {
  const owned = state.claims.filter(({ isOwned }) => isOwned);
  const claims = owned.map(({ name, uid }) => ({ name, uid }));
  return { ...confirmedWork(state, plan), claims };
}
