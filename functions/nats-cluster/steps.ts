// Applies one step. Each changes one thing, on condition that it is still as it was observed, and
// returns the Event to create, or the reason why NATS refuses.
import { Failure } from '../../shared/errors.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { Done } from '../../shared/nats/system.ts';
import type { ObjectEvent } from '../../shared/kube/event-recorder.ts';
import { CLAIMS, PODS, STATEFUL_SETS } from '../../shared/stateful/parts.ts';
import type { Cluster } from './cluster.ts';
import { type Administrator, withSystem } from './connect.ts';
import type { WriteRecords, Step } from './decision.ts';
import type { Deps } from './deps.ts';
import { nameOf } from './safety.ts';
import { configDigest } from './render/config.ts';
import type { State } from './state.ts';

export type AppliedStep = Exclude<Step, WriteRecords>;

export interface StepResult {
  /** Absent when there is nothing to report yet. */
  readonly event?: ObjectEvent;
  /** The step takes effect later: an observation right after it would see nothing new. */
  readonly isSlow: boolean;
}

const applied = (reason: string, message: string): StepResult => ({
  event: { type: 'Normal', reason, message },
  isSlow: false,
});

const slowly = (result: StepResult): StepResult => ({ ...result, isSlow: true });

export async function applyStep(
  deps: Deps,
  state: State,
  step: AppliedStep,
  signal: AbortSignal,
): Promise<StepResult | Reason> {
  const { cluster } = state;
  switch (step.type) {
    case 'make-secret':
    case 'apply':
    case 'grow':
    case 'orphan':
      return applyToParts(deps, cluster, step, signal);
    case 'restart':
    case 'delete-pod':
    case 'delete-claim':
      return applyToServer(deps, cluster, step, signal);
    case 'reload':
      return reloadServer(deps, state, step, signal);
    case 'step-down':
    case 'move':
    case 'remove-peer':
      return withSystem(deps, state, signal, (system) => applyToNats(step, system, signal));
    default:
      return step satisfies never;
  }
}

type OnParts = Extract<Step, { type: 'make-secret' | 'apply' | 'grow' | 'orphan' }>;
type OnServer = Extract<Step, { type: 'restart' | 'delete-pod' | 'delete-claim' }>;
type OnNats = Extract<Step, { type: 'step-down' | 'move' | 'remove-peer' }>;

async function applyToParts(
  { kube }: Deps,
  { namespace, name }: Cluster,
  step: OnParts,
  signal: AbortSignal,
): Promise<StepResult> {
  switch (step.type) {
    case 'make-secret': {
      const { ref, manifest, why, lost } = step.secret;
      // A Secret that another instance created meanwhile stays: servers may have its password
      // already.
      if (why === 'Create') await kube.create(ref, manifest, { signal });
      else await kube.apply(ref, manifest, { force: true, signal });
      if (lost !== undefined) return { event: { type: 'Warning', ...lost }, isSlow: false };
      const done = why === 'Create' ? 'Created' : 'Renewed';
      return applied(done, `${done} Secret ${manifest.metadata.name}.`);
    }
    case 'apply': {
      const { ref, manifest } = step.part;
      await kube.apply(ref, manifest, { force: true, signal });
      return applied('Applied', `${manifest.kind} ${manifest.metadata.name} is as the spec says.`);
    }
    case 'grow': {
      const { claim, size } = step;
      const body = { spec: { resources: { requests: { storage: size } } } };
      await kube.patch(
        CLAIMS,
        { namespace, name: claim.name },
        { type: 'merge', body },
        { signal },
      );
      return applied(
        'Grown',
        `Asked for ${size} instead of ${claim.size} for claim ${claim.name}.`,
      );
    }
    default: {
      const { uid, resourceVersion } = step;
      const options = { propagationPolicy: 'Orphan', signal } as const;
      await kube.delete(STATEFUL_SETS, { namespace, name }, { uid, resourceVersion }, options);
      const message = `Deleted StatefulSet ${name} alone, to make it anew with larger claims.`;
      return slowly(applied('StatefulSetRenewed', message));
    }
  }
}

async function applyToServer(
  { kube }: Deps,
  { namespace }: Cluster,
  step: OnServer,
  signal: AbortSignal,
): Promise<StepResult> {
  if (step.type === 'delete-claim') {
    const { claim, server } = step;
    await kube.delete(CLAIMS, { namespace, name: claim.name }, { uid: claim.uid }, { signal });
    return applied('ClaimDeleted', `Deleted claim ${claim.name} (uid ${claim.uid}) of ${server}.`);
  }
  const { pod, reason } = step;
  const { uid, resourceVersion } = pod;
  await kube.delete(PODS, { namespace, name: pod.name }, { uid, resourceVersion }, { signal });
  return applied('Restarted', `Deleted pod ${pod.name} (uid ${uid}). ${reason}`);
}

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
  const failed = {
    type: 'Warning',
    reason: `Not${reason}`,
    message: `NATS did not confirm it (${done.why}): ${message}`,
  } as const;
  return { event: failed, isSlow: true };
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
