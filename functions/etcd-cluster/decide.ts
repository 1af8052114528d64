// Decides the next step. The first planner that has a step, or something to wait for, wins: a
// change under way is finished before another begins, and nothing begins while safety is unknown.
// Pure.
import { joined, NOTHING, waitFor } from '../../shared/stateful/decision.ts';
import { applyParts, reportRefusedPolicy } from './apply-parts.ts';
import { beBorn, bringBack, markClaims } from './birth.ts';
import type { Decision } from './decision.ts';
import { hibernate } from './hibernate.ts';
import { finishLearner, scaleUp } from './join.ts';
import { leave, replaceLost, scaleDown } from './leave.ts';
import { isOutdated, refuseImage, restart, roll } from './roll.ts';
import { blockersOf } from './safety.ts';
import { type State, votersOf } from './state.ts';

type Planner = (state: State) => Decision | undefined;

const PLANNERS: readonly Planner[] = [
  applyParts,
  beBorn,
  bringBack,
  hibernate,
  markClaims,
  leave,
  finishLearner,
  replaceLost,
  restart,
  scaleUp,
  roll,
  scaleDown,
  heal,
  refuseImage,
  reportRefusedPolicy,
];

export function decide(state: State): Decision {
  const { object, spec } = state.cluster;
  if (object.metadata.deletionTimestamp !== undefined) return NOTHING;
  if (spec.paused) return { next: 'Nothing', waitsFor: PAUSED };
  for (const planner of PLANNERS) {
    const decision = planner(state);
    if (decision !== undefined) return decision;
  }
  return NOTHING;
}

const PAUSED = { reason: 'Paused', message: 'spec.paused is true.' };

/** Waits when no change is planned and a blocker is left: it heals by itself, or needs a person. */
function heal(state: State): Decision | undefined {
  const found = blockersOf(state);
  if (found.length === 0) return undefined;
  // A provisioner that refuses a claim goes on refusing it, so a person is needed.
  const pending = found.filter(({ reason }) => reason === 'ClaimPending');
  const [first] = pending;
  if (first === undefined) return waitFor('Nothing', found);
  return waitFor('Nothing', found, { ...first, message: joined(pending) });
}

/** True when the cluster is as the spec says and nothing is missing. */
export function isConverged(state: State, { step, waitsFor, trouble }: Decision): boolean {
  const isAtRest = step === undefined && waitsFor === undefined && trouble === undefined;
  return isAtRest && isWhole(state);
}

function isWhole(state: State): boolean {
  const { cluster, peers } = state;
  const { replicas } = cluster.spec;
  if (replicas === 0) return true;
  const hasAll = votersOf(state).length === replicas && peers.length === replicas;
  return hasAll && blockersOf(state).length === 0 && !peers.some((one) => isOutdated(state, one));
}
