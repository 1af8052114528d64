// When a cluster is Degraded: a person is needed, or a member has been away for too long. Pure.
import type { MemberStatus } from '../../shared/api/etcd-cluster.ts';
import type { ConditionInput, Reason } from '../../shared/kube/conditions.ts';
import {
  condition,
  isYoung,
  noContact,
  NOT_DEGRADED,
  YOUNG_MS,
} from '../../shared/stateful/conditions.ts';
import { joined } from '../../shared/stateful/decision.ts';
import type { Decision } from './decision.ts';
import { isLeftAlone } from './joining.ts';
import { awayReason, lackingReason, unhealthyReason } from './safety.ts';
import { memberOf, podOf, type State } from './state.ts';

/** Set when the members that were known are silent for too long to say anything of them. */
export const silence = (state: State, members: readonly MemberStatus[]): Reason | undefined =>
  state.etcd.answers.size > 0 ? undefined : noContact(members, state.nowMs, 'member');

export function degraded(
  state: State,
  { next, waitsFor, trouble }: Decision,
  members: readonly MemberStatus[],
): ConditionInput {
  if (trouble !== undefined) return condition('Degraded', 'True', trouble);
  const { leaving } = state.cluster.status;
  const stuck = state.peers.flatMap(({ name }) => {
    const found = podOf(state, name)?.trouble;
    // The others have told it to end for good, and its pod starts it again until that is deleted.
    const isOver = leaving?.peer === name || isLeftAlone(state, name);
    return found === undefined || isOver ? [] : [awayReason(state, name)];
  });
  const silent = silence(state, members);
  const late = members.flatMap((one) => lateReason(state, one) ?? []);
  const told = [silent, state.parts.refused].flatMap((one) => one ?? []);
  const found = [...stuck, ...told, ...late, ...ofPeers(state)];
  const [first] = found;
  if (first !== undefined) {
    return condition('Degraded', 'True', { reason: first.reason, message: joined(found) });
  }
  const isLacking = next === 'Nothing' && waitsFor !== undefined && waitsFor.reason !== 'Paused';
  return isLacking && !isYoung(state.cluster.object, state.nowMs)
    ? condition('Degraded', 'True', waitsFor)
    : NOT_DEGRADED;
}

/** Trouble with the pod or the claim of a member, as etcd-peer tells it; the member may be well. */
const ofPeers = ({ peers }: State): readonly Reason[] =>
  peers.flatMap(({ name, isOurs, status }) => {
    const trouble = status.conditions?.find((one) => one.type === 'Degraded');
    if (!isOurs || trouble?.status !== 'True') return [];
    return [{ reason: trouble.reason, message: `EtcdPeer ${name}: ${trouble.message}` }];
  });

/** A voter that is away, or a new member that takes too long; not one that is restarted. */
function lateReason(state: State, { name, startingSince }: MemberStatus): Reason | undefined {
  const { restarting, leaving } = state.cluster.status;
  if (restarting?.peer === name || leaving?.peer === name) return undefined;
  if (isLeftAlone(state, name)) return undefined;
  const member = memberOf(state, name);
  const isHealthy = member !== undefined && unhealthyReason(state, member) === undefined;
  const sinceMs = Date.parse(startingSince ?? '');
  if (isHealthy && startingSince === undefined) return undefined;
  if (startingSince !== undefined) {
    return state.nowMs - sinceMs > YOUNG_MS ? lackingReason(state, name) : undefined;
  }
  return isYoung(state.cluster.object, state.nowMs) || state.cluster.spec.replicas === 0
    ? undefined
    : lackingReason(state, name);
}
