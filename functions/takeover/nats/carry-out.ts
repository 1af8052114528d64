// Carries out a confirmed plan of a NatsCluster: the first of its steps that is not done is next.
// That the new servers are ready and routed with the old ones is looked at before each step. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { listed, waitFor } from '../../../shared/stateful/decision.ts';
import { SPEC_CHANGED } from '../blocked.ts';
import { ledElsewhere } from '../find-led.ts';
import { intoOf, type Records } from '../records.ts';
import { endNow, isBegun, operatorsIn, type Stage, stageNow } from '../stages.ts';
import { stopOperators, stoppedOperators, unseenOperator } from '../stop-operators.ts';
import type { NatsDecision, NatsStep } from './decision.ts';
import { isJoined, isUnrouted, joinRoutes, leadOver, leaveRoutes } from './lead-over.ts';
import { isLedOver, newSelectorOf, obstacleInService } from './led.ts';
import { legacyGone } from './legacy-gone.ts';
import { isMade, makeCluster } from './make-cluster.ts';
import { makerOf } from './made/makers.ts';
import { areMoved, moveClients } from './move-clients.ts';
import { answersOf, type NatsState } from './state.ts';
import { refuseStreams } from './refuse-streams.ts';
import { hasWayBack, noteNoWayBack } from '../way-back.ts';

export function carryOutNats(state: NatsState, records: Records): NatsDecision {
  const { legacy, nowMs } = state;
  const obstacle = obstacleTo(state, records);
  if (obstacle !== undefined) return waitFor('Go on', [obstacle], obstacle);
  // With it all is gone by which the others are known.
  if (legacy === undefined) return endNow(records, nowMs);
  return stageNow(stagesOf(state, records), records, nowMs);
}

/** The plan was about another thing than there is now: only a person can say what to do. */
function obstacleTo(state: NatsState, records: Records): Reason | undefined {
  const { legacy, takeover } = state;
  const { work } = records;
  if (isBegun(records, 'DeleteLegacy')) {
    if (legacy !== undefined) {
      return legacy.uid === work.legacyUid ? undefined : legacyGone(state, records);
    }
    return isLedOver(state) ? undefined : ledElsewhere(work, newSelectorOf(takeover));
  }
  if (legacy?.uid !== work.legacyUid || legacy.isEnding) return legacyGone(state, records);
  if (intoOf(takeover) !== work.into) return SPEC_CHANGED;
  const unseen = unseenOperator(state, work);
  if (unseen !== undefined) return unseen;
  const maker = makerOf(takeover.spec.legacy);
  const others = maker.appeared(state);
  if (others.length > 0) return appeared(others, maker.words.appeared(takeover));
  const [streams] = isBegun(records, 'MoveClients') ? [] : refuseStreams(state, legacy);
  if (streams !== undefined) return { ...streams, message: `${streams.message} ${OUT_AGAIN}` };
  return obstacleInService(state, records);
}

const OUT_AGAIN = 'Take JetStream out again, or roll this back (spec.rollback: true).';

const appeared = (pods: readonly string[], why: string): Reason => ({
  reason: 'ServersAppeared',
  message: `Pod ${listed(pods)} was not there when the plan was confirmed, ${why}, and it goes on.`,
});

function stagesOf(state: NatsState, records: Records): readonly Stage<NatsStep>[] {
  const { work } = records;
  return [
    {
      name: 'StopOperator',
      precondition: operatorsIn(work),
      isDone: stoppedOperators(state),
      act: () => stopOperators(state, work),
    },
    {
      name: 'MakeCluster',
      precondition: `NatsCluster ${state.takeover.spec.into.name} and its Secret were not there.`,
      isDone: isMade(state),
      act: () => makeCluster(state, records),
    },
    {
      name: 'JoinRoutes',
      precondition: `NatsCluster ${state.work?.cluster?.uid ?? ''} is Ready.`,
      isDone: isJoined(state, records),
      act: () => joinRoutes(state, records),
    },
    ...leadingStages(state, records),
  ];
}

function leadingStages(state: NatsState, records: Records): readonly Stage<NatsStep>[] {
  const { service, legacyUid } = records.work;
  const seen = listed(answersOf(state).map(({ pod }) => pod)) || 'those that are left (none)';
  return [
    {
      name: 'SwitchService',
      precondition:
        `Each new server has a route to each of ${seen}; Service ${service.name} has uid ` +
        `${service.uid}.`,
      isDone: isLedOver(state),
      act: () => leadOver(state, records),
    },
    {
      name: 'MoveClients',
      precondition: `Service ${service.name} leads to the new servers.`,
      isDone: areMoved(state, records),
      act: () => moveClients(state, records),
    },
    {
      name: 'LeaveRoutes',
      precondition: 'No old pod is left.',
      isDone: isUnrouted(state),
      act: () => leaveRoutes(state),
    },
    {
      name: 'DeleteLegacy',
      precondition: `It has uid ${legacyUid} and no pod, and owns no client Service.`,
      isDone: false,
      act: () => deleteLegacy(state, records),
    },
  ];
}

function deleteLegacy(
  { legacy, nowMs, takeover }: NatsState,
  { work, steps }: Records,
): NatsDecision {
  const which = makerOf(takeover.spec.legacy).words.object(takeover.spec.legacy.name);
  const next = `Delete ${which}`;
  if (legacy === undefined || legacy.isEnding) {
    const message = `${which} is being deleted; see its finalizers if it does not end.`;
    return waitFor(next, [{ reason: 'LegacyEnding', message }]);
  }
  // Where all pods were gone already nobody has noted it.
  if (hasWayBack(work)) {
    return noteNoWayBack({ work, steps }, nowMs, next);
  }
  const { resourceVersion } = legacy;
  const step = { type: 'delete-legacy-nats', uid: work.legacyUid, resourceVersion } as const;
  return { step, next };
}
