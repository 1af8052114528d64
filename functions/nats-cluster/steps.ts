// Applies one step. Each changes one thing, on condition that it is still as it was observed, and
// returns the Event to create, or the reason why NATS refuses.
import { Failure } from '../../shared/errors.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { Done } from '../../shared/nats/system.ts';
import {
  applied,
  applyStatefulStep,
  slowly,
  unconfirmed,
  type StepResult,
} from '../../shared/stateful/steps.ts';
import { type Administrator, withSystem } from './connect.ts';
import type { Step } from './decision.ts';
import type { Deps } from './deps.ts';
import { nameOf } from './safety.ts';
import { configDigest } from './render/config.ts';
import type { State } from './state.ts';
import { applyNames } from './told-of-secrets.ts';

export async function applyStep(
  deps: Deps,
  state: State,
  step: Step,
  signal: AbortSignal,
): Promise<StepResult | Reason> {
  const { cluster } = state;
  switch (step.type) {
    case 'make-secret':
    case 'apply':
    case 'grow':
    case 'orphan':
    case 'restart':
    case 'delete-pod':
    case 'delete-claim':
      return applyStatefulStep(deps.kube, cluster, step, signal);
    case 'name-secrets':
      return applyNames(deps, cluster, step.unnamed, signal);
    case 'reload':
      return reloadServer(deps, state, step, signal);
    case 'step-down':
    case 'move':
    case 'remove-peer':
      return withSystem(deps, state, signal, (system) => applyToNats(step, system, signal));
    // The reconciler writes them with the status.
    case 'write-records':
      return { isSlow: false };
    default:
      return step satisfies never;
  }
}

type OnNats = Extract<Step, { type: 'step-down' | 'move' | 'remove-peer' }>;

async function applyToNats(
  step: OnNats,
  system: Administrator,
  signal: AbortSignal,
): Promise<StepResult | Reason> {
  switch (step.type) {
    case 'step-down': {
      const { from, to } = step;
      const done = await system.stepDownMeta(to, signal);
      return resultOf(done, 'SteppedDown', `${from} gave up leading the meta group.`);
    }
    case 'move': {
      const { account, stream, server } = step;
      const done = await system.moveStream({ account, stream, server }, signal);
      // NATS goes on refusing until a person helps.
      if (!done.isDone && done.isAnswered) return refusedMove(step, done.why);
      return resultOf(
        done,
        'StreamMoved',
        `Stream ${stream} of account ${account} leaves ${server}.`,
      );
    }
    default: {
      const { server, peerId } = step;
      const done = await system.removePeer(peerId, signal);
      return resultOf(done, 'PeerRemoved', `The meta group counts ${server} no more.`);
    }
  }
}

const refusedMove = (step: Extract<Step, { type: 'move' }>, why: string): Reason => ({
  reason: 'StreamMoveRefused',
  message:
    `NATS does not move ${nameOf(step)} off ${step.server}: ${why}. Make room for it on the ` +
    'others, or waive it, and it is lost with the server.',
});

function resultOf(done: Done, reason: string, message: string): StepResult {
  if (done.isDone) return slowly(applied(reason, message));
  return unconfirmed('NATS', done.why, { reason, message });
}

async function reloadServer(
  deps: Deps,
  state: State,
  { server, id }: Extract<Step, { type: 'reload' }>,
  signal: AbortSignal,
): Promise<StepResult> {
  const reload = async (system: Administrator): Promise<StepResult> =>
    reloaded(deps, state, server, await system.reload(id, signal));
  try {
    // Connects to that server itself: a route that the reload closes would take the answer with it.
    const pods = state.pods.filter(({ name }) => name === server);
    return await withSystem(deps, { ...state, pods }, signal, reload);
  } catch (error) {
    // The server speaks plain, and another one has TLS already, which reaches it by its route.
    const isAway = error instanceof Failure && error.code === 'NATS_UNAVAILABLE';
    if (!isAway || state.parts.saysTls !== true) throw error;
    return withSystem(deps, state, signal, reload);
  }
}

/**
 * Only the digest tells whether a server took the wanted configuration: the file may come later.
 */
function reloaded(deps: Deps, { cluster, parts }: State, server: string, done: Done): StepResult {
  const { refusals } = deps.memoryOf(cluster.uid);
  const digest = parts.rendered === undefined ? '' : configDigest(parts.rendered.config, server);
  if (done.isDone || !done.isAnswered) {
    refusals.delete(server);
    return { isSlow: true };
  }
  refusals.set(server, { digest, why: done.why });
  return { isSlow: true };
}
