// Decides what is next: a plan waits for a person who confirms exactly it, and then is carried out
// or taken back. One that is over is left alone for good. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { isEnding } from '../../shared/kube/objects.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { joined, NOTHING, waitFor } from '../../shared/stateful/decision.ts';
import { type AnyDecision, type AnyState, anyPlanOf, isOfNats } from './any-state.ts';
import { firstRecords } from './begin.ts';
import { carryOut } from './carry-out.ts';
import { firstRecordsToJoin } from './join/begin.ts';
import { carryOutJoin } from './join/carry-out.ts';
import { joins } from './join/mode.ts';
import { takeBackJoin } from './join/take-back.ts';
import { orWayBack } from './lead-over.ts';
import { ledLate } from './led-late.ts';
import { firstRecordsOfNats } from './nats/begin.ts';
import { carryOutNats } from './nats/carry-out.ts';
import { takeBackNats } from './nats/take-back.ts';
import { isOver, isUndoing, recordsOf, type Records } from './records.ts';
import { takeBack } from './take-back.ts';
import { hasWayBack } from './way-back.ts';
import { firstRecordsToWipe } from './wipe/begin.ts';
import { carryOutWipe } from './wipe/carry-out.ts';
import { wipes } from './wipe/mode.ts';
import { takeBackWipe } from './wipe/take-back.ts';

export function decide(state: AnyState): AnyDecision {
  const { takeover } = state;
  if (isEnding(takeover.object) || isOver(takeover)) return NOTHING;
  const records = recordsOf(takeover.status);
  if (records === undefined) return beforehand(state);
  const late = isOfNats(state) ? undefined : ledLate(state, records);
  if (late !== undefined) return late;
  const { rollingBackAt } = records.work;
  const isTurning = takeover.spec.rollback === true && rollingBackAt === undefined;
  // Later there is no way back, and the API server says so to whoever asks for one.
  if (isTurning && hasWayBack(records.work)) return turnBack(state, records);
  const isBack = isUndoing(records.work);
  if (isOfNats(state)) {
    return isBack ? takeBackNats(state, records) : carryOutNats(state, records);
  }
  if (joins(state)) return isBack ? takeBackJoin(state, records) : carryOutJoin(state, records);
  if (isBack) return wipes(state) ? takeBackWipe(state, records) : takeBack(state, records);
  const decision = wipes(state) ? carryOutWipe(state, records) : carryOut(state, records);
  return orWayBack(decision, state, records);
}

function turnBack({ nowMs }: AnyState, { work, steps }: Records): AnyDecision {
  const { undoing: _, ...rest } = work;
  const turned = { ...rest, rollingBackAt: timestamp(nowMs) };
  const step = { type: 'write-records', records: { work: turned, steps } } as const;
  return { step, next: 'Roll it back' };
}

function beforehand(state: AnyState): AnyDecision {
  const plan = anyPlanOf(state);
  const [first] = plan.refusals;
  if (first !== undefined) {
    const trouble = { reason: first.reason, message: joined(plan.refusals) };
    return waitFor(plan.next, plan.refusals, trouble);
  }
  const { confirm, rollback = false } = state.takeover.spec;
  if (confirm === undefined || plan.id === undefined) {
    return { next: plan.next };
  }
  if (confirm !== plan.id) {
    const changed = { reason: 'PlanChanged', message: plan.waitsFor ?? '' };
    return waitFor(plan.next, [changed], changed);
  }
  if (rollback) return waitFor('Nothing', [NOTHING_BEGUN], NOTHING_BEGUN);
  const records = firstRecordsOf(state, plan.id);
  return { step: { type: 'write-records', records }, next: `Begin plan ${plan.id}` };
}

const NOTHING_BEGUN: Reason = {
  reason: 'NothingBegun',
  message:
    'spec.rollback is true, and nothing was begun. Take it out, and the plan is carried out.',
};

function firstRecordsOf(state: AnyState, plan: string): Records {
  if (isOfNats(state)) return firstRecordsOfNats(state, plan);
  if (joins(state)) return firstRecordsToJoin(state, plan);
  return wipes(state) ? firstRecordsToWipe(state, plan) : firstRecords(state, plan);
}
