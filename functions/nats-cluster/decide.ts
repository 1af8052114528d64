// Decides the next step. The first planner that has a step, or something to wait for, wins: a
// change under way is finished before another begins, and nothing begins while safety is unknown.
// Pure.
import { joined, NOTHING, waitFor } from '../../shared/stateful/decision.ts';
import { awaitAccounts } from './accounts.ts';
import { applyParts, reportRefusedPolicy } from './apply-parts.ts';
import type { Cluster } from './cluster.ts';
import type { Decision } from './decision.ts';
import { refuseGrowth } from './growth.ts';
import { atRisk, blockersOf } from './safety.ts';
import { reportRefusedPasswords } from './refused-passwords.ts';
import { reload } from './reload.ts';
import { replace } from './replace.ts';
import { restart, roll } from './roll.ts';
import { bringBack, leave, scaleDown, scaleUp } from './scale.ts';
import { areStarting } from './starting.ts';
import { expected, isUp, sizeOf, type State } from './state.ts';

type Planner = (state: State) => Decision | undefined;

const PLANNERS: readonly Planner[] = [
  applyParts,
  reportRefusedPasswords,
  bringBack,
  replace,
  leave,
  restart,
  awaitAccounts,
  reload,
  scaleUp,
  roll,
  scaleDown,
  heal,
  refuseGrowth,
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
  const next = areStarting(state) ? 'Start new servers' : 'Nothing';
  // A provisioner that refuses a claim goes on refusing it, so a person is needed.
  const pending = found.filter(({ reason }) => reason === 'ClaimPending');
  const [first] = pending;
  if (first === undefined) return waitFor(next, found);
  return waitFor(next, found, { ...first, message: joined(pending) });
}

/** True when the cluster is as the spec says and nothing is missing. */
export function isConverged(state: State, { step, waitsFor, trouble }: Decision): boolean {
  const isAtRest = step === undefined && waitsFor === undefined && trouble === undefined;
  return isAtRest && isWhole(state);
}

function isWhole(state: State): boolean {
  const servers = expected(state);
  const isComplete = sizeOf(state.parts) === replicasOf(state.cluster);
  return isComplete && servers.every((one) => isUp(state, one)) && atRisk(state).length === 0;
}

const replicasOf = ({ spec }: Cluster): number => spec.replicas;
