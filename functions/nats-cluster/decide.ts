// Which step comes next. The first of these that has something to do or to wait for decides: what
// is under way is finished before anything else is begun, and nothing is begun in doubt. Pure.
import { awaitAccounts } from './accounts.ts';
import { bringUp, fence, refuseGrowth } from './bring-up.ts';
import type { Cluster } from './cluster.ts';
import { type Decision, joined, NOTHING, waitFor } from './decision.ts';
import { atRisk, doubts } from './gate.ts';
import { letIn } from './let-in.ts';
import { reload } from './reload.ts';
import { replace } from './replace.ts';
import { restart, roll } from './roll.ts';
import { bringBack, leave, scaleDown, scaleUp } from './scale.ts';
import { areStarting } from './starting.ts';
import { expected, isUp, sizeOf, type World } from './world.ts';

type Chapter = (world: World) => Decision | undefined;

const CHAPTERS: readonly Chapter[] = [
  bringUp,
  letIn,
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
  fence,
];

export function decide(world: World): Decision {
  const { object, spec } = world.cluster;
  if (object.metadata.deletionTimestamp !== undefined) return NOTHING;
  if (spec.paused) return { next: 'Nothing', waitsFor: PAUSED };
  for (const chapter of CHAPTERS) {
    const decision = chapter(world);
    if (decision !== undefined) return decision;
  }
  return NOTHING;
}

const PAUSED = { reason: 'Paused', message: 'spec.paused is true.' };

/** Nothing is to be changed, and something is not as it should be: it heals, or a person helps. */
function heal(world: World): Decision | undefined {
  const words = doubts(world);
  if (words.length === 0) return undefined;
  const next = areStarting(world) ? 'Start new servers' : 'Nothing';
  // A provisioner that refuses goes on refusing.
  const pending = words.filter(({ reason }) => reason === 'ClaimPending');
  const [first] = pending;
  if (first === undefined) return waitFor(next, words);
  return waitFor(next, words, { ...first, message: joined(pending) });
}

/** Whether all is as the spec says, and nothing lacks. */
export function isConverged(world: World, { step, waitsFor, trouble }: Decision): boolean {
  const isAtRest = step === undefined && waitsFor === undefined && trouble === undefined;
  return isAtRest && isWhole(world);
}

function isWhole(world: World): boolean {
  const servers = expected(world);
  const isComplete = sizeOf(world.parts) === replicasOf(world.cluster);
  return isComplete && servers.every((one) => isUp(world, one)) && atRisk(world).length === 0;
}

const replicasOf = ({ spec }: Cluster): number => spec.replicas;
