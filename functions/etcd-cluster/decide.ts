// Decides the next step. The first planner that has a step, or something to wait for, wins: a
// change under way is finished before another begins, and nothing begins while safety is unknown.
// Pure.
import {
  firstOf,
  isAtRest,
  leftAlone,
  type Planner,
  waitToHeal,
} from '../../shared/stateful/decision.ts';
import { applyParts, reportRefusedCertificate, reportRefusedPolicy } from './apply-parts.ts';
import { keepAuth, reportAuth, reportRefusedLogin } from './auth/plan.ts';
import { beBorn, bringBack } from './birth.ts';
import { markClaims } from './claim-marks.ts';
import type { Decision, Step } from './decision.ts';
import { defragment, goOnDefragmenting } from './defragment.ts';
import { hibernate } from './hibernate.ts';
import { joinOld } from './join-old.ts';
import { finishLearner, scaleUp } from './join.ts';
import { leave, scaleDown } from './leave.ts';
import { replaceCorrupt } from './replace-corrupt.ts';
import { isOutdated } from './outdated.ts';
import { replaceLost } from './replace-lost.ts';
import { replaceRefusing, reportRefusing } from './replace-refusing.ts';
import { refuseImage, restart, roll } from './roll.ts';
import { proposeRecovery, recover, refuseConfirmation } from './recover.ts';
import { blockersOf } from './safety.ts';
import { recoverSpace, reportSpace } from './space.ts';
import { closeStarts } from './starts.ts';
import { type State, votersOf } from './state.ts';

const PLANNERS: readonly Planner<State, Step>[] = [
  applyParts,
  recover,
  beBorn,
  closeStarts,
  joinOld,
  bringBack,
  hibernate,
  markClaims,
  reportRefusedLogin,
  proposeRecovery,
  replaceCorrupt,
  goOnDefragmenting,
  leave,
  finishLearner,
  recoverSpace,
  replaceLost,
  replaceRefusing,
  restart,
  keepAuth,
  scaleUp,
  roll,
  scaleDown,
  defragment,
  reportSpace,
  reportRefusing,
  heal,
  reportRefusedCertificate,
  refuseImage,
  reportAuth,
  refuseConfirmation,
  reportRefusedPolicy,
];

export const decide = (state: State): Decision =>
  leftAlone(state.cluster) ?? firstOf(PLANNERS, state);

/** Waits when no change is planned and a blocker is left: it heals by itself, or needs a person. */
function heal(state: State): Decision | undefined {
  const found = blockersOf(state);
  return found.length === 0 ? undefined : waitToHeal('Nothing', found);
}

/** True when the cluster is as the spec says and nothing is missing. */
export const isConverged = (state: State, decision: Decision): boolean =>
  isAtRest(decision) && isWhole(state);

function isWhole(state: State): boolean {
  const { cluster, peers } = state;
  const { replicas } = cluster.spec;
  if (replicas === 0) return true;
  const hasAll = votersOf(state).length === replicas && peers.length === replicas;
  return hasAll && blockersOf(state).length === 0 && !peers.some((one) => isOutdated(state, one));
}
