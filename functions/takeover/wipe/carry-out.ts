// Carries out a confirmed plan that gives the data up: the first of its steps that is not done is
// next. No member is asked, as none may be there. Pure.
import type { Decision as DecisionOf } from '../../../shared/stateful/decision.ts';
import { waitFor } from '../../../shared/stateful/decision.ts';
import type { Step } from '../decision.ts';
import {
  awaitReady,
  deleteOnceReady,
  isSwitched,
  orphanStage,
  switchService,
} from '../lead-over.ts';
import { obstacleTo } from '../obstacle.ts';
import { makeOwnCluster, type MakeStep } from '../own-cluster.ts';
import type { Records } from '../records.ts';
import { endNow, type Stage, stageNow } from '../stages.ts';
import type { Own, State } from '../state.ts';
import { operatorStage } from '../stop-operators.ts';
import { isSaid } from './mode.ts';
import { refuseFilled, unsaid } from './refuse.ts';

export type WipeDecision = DecisionOf<Step | MakeStep>;
type WipeStage = Stage<Step | MakeStep>;

export function carryOutWipe(state: State, records: Records): WipeDecision {
  const { legacy } = state;
  // As long as there is something to lose a person may take the word back.
  const isUnsaid = legacy !== undefined && !isSaid(state);
  const obstacle = isUnsaid ? unsaid(state) : obstacleTo(state, records);
  if (obstacle !== undefined) return waitFor('Go on', [obstacle], obstacle);
  // With it all is gone by which the others are known.
  if (legacy === undefined) return endNow(records, state.nowMs);
  const stages = [
    operatorStage(state, records.work),
    ...(isSwitched(state) ? [] : [makeStage(state, records)]),
    ...leadingStages(state, records),
  ];
  return stageNow(stages, records, state.nowMs);
}

const makeStage = (state: State, records: Records): WipeStage => ({
  name: 'MakeCluster',
  precondition: `spec.wipe is ${state.takeover.spec.wipe ?? ''}.`,
  isDone: isMade(state.wiping),
  act: () => makeCluster(state, records),
});

const isMade = (wiping: Own | undefined): boolean =>
  wiping?.cluster?.isOurs === true && wiping.cluster.isReady && !wiping.cluster.isEnding;

function makeCluster(state: State, records: Records): WipeDecision {
  const { work } = records;
  const cluster = state.wiping?.cluster;
  const [filled] = cluster === undefined ? refuseFilled(state) : [];
  if (filled !== undefined) return waitFor('Make the EtcdCluster', [filled], filled);
  return (
    makeOwnCluster(state, work, cluster) ??
    noteId(records, cluster) ??
    awaitReady('Make the EtcdCluster', cluster) ??
    waitFor('Go on', [])
  );
}

/** By it claims of its members are known for ours on rollback. */
export function noteId(
  { work, steps }: Records,
  cluster: Own['cluster'],
): WipeDecision | undefined {
  const id = cluster?.isOurs === true ? cluster.clusterId : undefined;
  if (id === undefined || id === work.newClusterId) return undefined;
  const records = { work: { ...work, newClusterId: id }, steps };
  return { step: { type: 'write-records', records }, next: `Note ${id}` };
}

function leadingStages(state: State, records: Records): readonly WipeStage[] {
  const { service, legacyUid, newClusterId } = records.work;
  const isReady = `EtcdCluster of id ${newClusterId ?? ''} is Ready`;
  return [
    {
      name: 'SwitchService',
      precondition: `${isReady}; Service ${service.name} has uid ${service.uid}.`,
      isDone: isSwitched(state),
      act: () => switchService(state, records),
    },
    orphanStage(state),
    {
      name: 'DeleteLegacy',
      precondition: `It has uid ${legacyUid}, owns no claim and no client Service; ${isReady}.`,
      isDone: false,
      act: () => deleteOnceReady(state, records.work, state.wiping?.cluster),
    },
  ];
}
