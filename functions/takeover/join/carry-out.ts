// Carries out a confirmed plan in which members join the old ones: the first of its steps that is
// not done is next. Until the first old member leaves it is looked in each look whether all that
// joined are well. Pure.
import { waitFor } from '../../../shared/stateful/decision.ts';
import { deleteOnceReady, isSwitched, orphanStage } from '../lead-over.ts';
import { obstacleTo } from '../obstacle.ts';
import type { Step } from '../decision.ts';
import type { Records } from '../records.ts';
import { endNow, type Stage, stageNow } from '../stages.ts';
import type { State } from '../state.ts';
import { operatorStage } from '../stop-operators.ts';
import type { JoinDecision, JoinStep } from './decision.ts';
import { joinMembers } from './join-members.ts';
import { areLeft, leaveMembers } from './leave-members.ts';
import { areJoined, viewOf } from './members.ts';
import { switchService } from './switch-service.ts';
import { hasWayBack } from '../way-back.ts';

type JoinStage = Stage<Step | JoinStep>;

export function carryOutJoin(state: State, records: Records): JoinDecision {
  const obstacle = obstacleTo(state, records);
  if (obstacle !== undefined) return waitFor('Go on', [obstacle], obstacle);
  // With it all is gone by which the others are known.
  if (state.legacy === undefined) return endNow(records, state.nowMs);
  const { work } = records;
  const stages = [
    ...(hasWayBack(work) ? [joinStage(state, records)] : []),
    ...leadingStages(state, records),
  ];
  return stageNow([operatorStage(state, work), ...stages], records, state.nowMs);
}

function joinStage(state: State, records: Records): JoinStage {
  const { clusterId, oldMembers = [] } = records.work;
  return {
    name: 'JoinMembers',
    precondition: `Members of cluster ${clusterId ?? ''}: ${idsOf(oldMembers)}.`,
    isDone: areJoined(viewOf(state, records.work), records.work),
    act: () => joinMembers(state, records),
  };
}

const idsOf = (members: readonly { readonly name: string; readonly id: string }[]): string =>
  members.map(({ name, id }) => `${name} has id ${id}`).join('; ');

function leadingStages(state: State, records: Records): readonly JoinStage[] {
  const { service, legacyUid, newMembers = [], oldMembers = [] } = records.work;
  const joined = newMembers.map(({ name }) => name).join(', ');
  return [
    {
      name: 'SwitchService',
      precondition: `${joined} have what the leader has; ${service.name} has uid ${service.uid}.`,
      isDone: isSwitched(state),
      act: () => switchService(state, records),
    },
    {
      name: 'LeaveMembers',
      precondition: `Service ${service.name} leads to ${joined}; ${idsOf(oldMembers)}.`,
      isDone: areLeft(state, records),
      act: () => leaveMembers(state, records),
    },
    orphanStage(state),
    {
      name: 'DeleteLegacy',
      precondition: `It has uid ${legacyUid}, no member in the list, no claim and no client.`,
      isDone: false,
      act: () => deleteOnceReady(state, records.work, state.joining?.cluster),
    },
  ];
}
