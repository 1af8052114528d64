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
import { awaitAccounts } from './accounts.ts';
import { applyParts, reportRefusedPolicy } from './apply-parts.ts';
import type { Cluster } from './cluster.ts';
import type { Decision, Step } from './decision.ts';
import { refuseGrowth } from './growth.ts';
import { leave } from './leave.ts';
import { atRisk, blockersOf } from './safety.ts';
import { reportRefusedPasswords } from './refused-passwords.ts';
import { reload } from './reload.ts';
import { replace } from './replace-volume.ts';
import { restart, roll } from './roll.ts';
import { bringBack, scaleDown, scaleUp } from './scale.ts';
import { areStarting } from './starting.ts';
import { expected, isUp, sizeOf, type State } from './state.ts';
import { nameSecrets } from './told-of-secrets.ts';

const PLANNERS: readonly Planner<State, Step>[] = [
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
  nameSecrets,
  heal,
  refuseGrowth,
  reportRefusedPolicy,
];

export const decide = (state: State): Decision =>
  leftAlone(state.cluster) ?? firstOf(PLANNERS, state);

/** Waits when no change is planned and a blocker is left: it heals by itself, or needs a person. */
function heal(state: State): Decision | undefined {
  const found = blockersOf(state);
  if (found.length === 0) return undefined;
  return waitToHeal(areStarting(state) ? 'Start new servers' : 'Nothing', found);
}

/** True when the cluster is as the spec says and nothing is missing. */
export const isConverged = (state: State, decision: Decision): boolean =>
  isAtRest(decision) && isWhole(state);

function isWhole(state: State): boolean {
  const servers = expected(state);
  const isComplete = sizeOf(state.parts) === replicasOf(state.cluster);
  return isComplete && servers.every((one) => isUp(state, one)) && atRisk(state).length === 0;
}

const replicasOf = ({ spec }: Cluster): number => spec.replicas;
