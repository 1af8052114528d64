// Applies the steps of upkeep: a compaction, the defragmentation of one member, the end of an
// alarm. Each may take longer than we wait for it, and the next look says how far it is.
import { isEtcdFailure } from '../../shared/etcd/admin/failure.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { applied, slowly, type StepResult, unconfirmed } from '../../shared/stateful/steps.ts';
import { endpointOf, withMembers } from './connect.ts';
import type { OnUpkeep } from './decision.ts';
import type { Deps } from './deps.ts';
import { type State, votersToAsk } from './state.ts';

/** etcd goes on when nobody waits any more; a gigabyte takes some ten seconds. */
const WAITS_MS = 10_000;

type UpkeepDeps = Pick<Deps, 'openAdmin' | 'memoryOf'>;

export async function applyUpkeep(
  deps: UpkeepDeps,
  state: State,
  step: OnUpkeep,
  signal: AbortSignal,
): Promise<StepResult> {
  try {
    await ask(deps, state, step, signal);
    if (step.type === 'defragment') noteAsked(deps, state, true);
    const { reason, message } = sentenceOf(step);
    return slowly(applied(reason, message));
  } catch (error) {
    signal.throwIfAborted();
    if (!isEtcdFailure(error)) throw error;
    if (step.type === 'compact' && error.reason === 'COMPACTED') return { isSlow: true };
    if (!error.isInDoubt) return unconfirmed('etcd', error.message, sentenceOf(step));
    if (step.type === 'defragment') noteAsked(deps, state, false);
    return { isSlow: true };
  }
}

/** A copy of a database that is full of keys is no smaller: nothing else tells that it is done. */
function noteAsked(deps: UpkeepDeps, { cluster }: State, isTold: boolean): void {
  const { defragmenting } = cluster.status;
  if (defragmenting === undefined) return;
  const { upkeep } = deps.memoryOf(cluster.uid);
  const { copy } = upkeep;
  const before = copy?.of.since === defragmenting.since ? copy.asked : 0;
  upkeep.copy = { of: defragmenting, asked: before + 1, isTold };
}

async function ask(
  { openAdmin }: UpkeepDeps,
  state: State,
  step: OnUpkeep,
  signal: AbortSignal,
): Promise<unknown> {
  const { cluster, pods, parts } = state;
  if (parts.access === undefined) throw new Error('asked for upkeep without access');
  const target = { cluster, pods, access: parts.access };
  const options = { timeoutMs: WAITS_MS, signal };
  return withMembers(openAdmin, target, votersToAsk(state), async (admin): Promise<unknown> => {
    switch (step.type) {
      case 'compact':
        return admin.keys.compact(step.revision, { isPhysical: true, ...options });
      case 'disarm':
        return admin.alarms.disarm({ memberId: step.memberId, type: step.alarm }, options);
      default: {
        const endpoint = endpointOf(cluster, pods, step.peer);
        if (endpoint === undefined) throw new Error(`${step.peer} has no address`);
        return admin.at(endpoint).defragment(options);
      }
    }
  });
}

function sentenceOf(step: OnUpkeep): Reason {
  switch (step.type) {
    case 'compact': {
      const message = `Forgot what was before revision ${step.revision}.`;
      return { reason: 'Compacted', message };
    }
    case 'disarm':
      return { reason: 'Disarmed', message: `Ended the alarm ${step.alarm}: ${step.why}` };
    default: {
      const message = `${step.peer} has given the free part of its database back.`;
      return { reason: 'Defragmented', message };
    }
  }
}
