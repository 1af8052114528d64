// Carries out a confirmed plan: the first of its steps that is not done is next. That writers are
// stopped is looked at before each step until clients are led over, and before the last one once
// more. Pure.
import { waitFor } from '../../shared/stateful/decision.ts';
import { claimsStay } from './claims-go.ts';
import type { Decision, Step } from './decision.ts';
import { freeze, isFrozen } from './frozen.ts';
import { compareKeys, makeCluster, takeSnapshot } from './copy-data.ts';
import { isCompared, isMade, isTaken } from './copied.ts';
import { deleteLegacy, isSwitched, orphanStage, switchService } from './lead-over.ts';
import { obstacleTo } from './obstacle.ts';
import type { Records } from './records.ts';
import { heldPeers, releasePeers } from './release-peers.ts';
import { isBegun, type Stage, stageNow } from './stages.ts';
import type { State } from './state.ts';
import { operatorStage } from './stop-operators.ts';

export function carryOut(state: State, records: Records): Decision {
  const obstacle = obstacleTo(state, records);
  if (obstacle !== undefined) return waitFor('Go on', [obstacle], obstacle);
  return stageNow(stagesOf(state, records), records, state.nowMs);
}

function stagesOf(state: State, records: Records): readonly Stage<Step>[] {
  const after = leadingStages(state, records);
  return isLed(state, records) ? after : [...copyingStages(state, records), ...after];
}

/** An operator that somebody started leads the Service back, as long as there is the object. */
const isLed = (state: State, records: Records): boolean =>
  isSwitched(state) || (isBegun(records, 'DeleteLegacy') && state.legacy === undefined);

function copyingStages(state: State, records: Records): readonly Stage<Step>[] {
  const { work } = records;
  const { frozen, attempt } = work;
  const at = `revision ${frozen?.revision ?? 'unknown'}`;
  return [
    operatorStage(state, work),
    {
      name: 'FreezeWriters',
      precondition: `A quorum of cluster ${work.clusterId ?? ''} stands.`,
      isDone: isFrozen(state, work),
      act: () => freeze(state, records),
    },
    {
      name: 'Snapshot',
      precondition: `Attempt ${attempt}: the old cluster stands still at ${at}.`,
      isDone: isTaken(state, work),
      act: () => takeSnapshot(state, records),
    },
    {
      name: 'MakeCluster',
      precondition: `EtcdBackup ${state.work?.backup?.uid ?? ''} is of ${at}.`,
      isDone: isMade(state, work),
      act: () => makeCluster(state, records),
    },
    {
      name: 'Compare',
      precondition: `EtcdCluster ${state.work?.cluster?.uid ?? ''} is Ready.`,
      isDone: isCompared(work),
      act: () => compareKeys(state, records),
    },
  ];
}

function leadingStages(state: State, records: Records): readonly Stage<Step>[] {
  const { service, legacyUid, frozen } = records.work;
  return [
    {
      name: 'SwitchService',
      precondition:
        `No key differs; Service ${service.name} has uid ${service.uid}; the old cluster stands ` +
        `still at revision ${frozen?.revision ?? 'unknown'}.`,
      isDone: isLed(state, records),
      act: () => switchService(state, records),
    },
    orphanStage(state),
    {
      name: 'ReleasePeers',
      precondition: heldPeers(state)
        .map(({ name, uid }) => `${name} has uid ${uid}`)
        .join('; '),
      isDone: heldPeers(state).length === 0,
      act: () => releasePeers(state, records.work),
    },
    {
      name: 'DeleteLegacy',
      precondition:
        `It has uid ${legacyUid}, owns no claim and no client Service, and its members stand ` +
        `still at revision ${frozen?.revision ?? 'unknown'}.${claimsStay(state)}`,
      isDone: state.legacy === undefined,
      act: () => deleteLegacy(state, records.work),
    },
  ];
}
