// Takes one step. Each changes one thing, under the precondition that it is still what was looked
// at, and says in a word what was done, or why NATS does not do it.
import { Failure } from '../../shared/errors.ts';
import type { Done } from '../../shared/nats/system.ts';
import type { Announcement } from '../../shared/kube/announce.ts';
import type { Cluster } from './cluster.ts';
import { type Administrator, withSystem } from './connect.ts';
import type { Remember, Step } from './decision.ts';
import type { Deps } from './deps.ts';
import { nameOf } from './gate.ts';
import { configDigest } from './render/config.ts';
import { CLAIMS, PODS, STATEFUL_SETS } from './render/manifests.ts';
import type { Word, World } from './world.ts';

export type Act = Exclude<Step, Remember>;

export interface Taken {
  /** Absent when there is nothing to tell of yet. */
  readonly said?: Announcement;
  /** It takes its time: a look that follows at once would see nothing new. */
  readonly isSlow: boolean;
}

const did = (reason: string, message: string): Taken => ({
  said: { type: 'Normal', reason, message },
  isSlow: false,
});

const slowly = (taken: Taken): Taken => ({ ...taken, isSlow: true });

export async function take(
  deps: Deps,
  world: World,
  step: Act,
  signal: AbortSignal,
): Promise<Taken | Word> {
  const { cluster } = world;
  switch (step.take) {
    case 'make-secret':
    case 'apply':
    case 'grow':
    case 'orphan':
      return takeOnParts(deps, cluster, step, signal);
    case 'restart':
    case 'delete-pod':
    case 'delete-claim':
      return takeOnServer(deps, cluster, step, signal);
    case 'reload':
      return takeReload(deps, world, step, signal);
    case 'step-down':
    case 'move':
    case 'remove-peer':
      return withSystem(deps, world, signal, (system) => takeOnNats(step, system, signal));
    default:
      return step satisfies never;
  }
}

type OnParts = Extract<Step, { take: 'make-secret' | 'apply' | 'grow' | 'orphan' }>;
type OnServer = Extract<Step, { take: 'restart' | 'delete-pod' | 'delete-claim' }>;
type OnNats = Extract<Step, { take: 'step-down' | 'move' | 'remove-peer' }>;

async function takeOnParts(
  { kube }: Deps,
  { namespace, name }: Cluster,
  step: OnParts,
  signal: AbortSignal,
): Promise<Taken> {
  switch (step.take) {
    case 'make-secret': {
      const { ref, manifest, why, lost } = step.secret;
      // What another instance has made meanwhile stays: servers may know it already.
      if (why === 'Create') await kube.create(ref, manifest, { signal });
      else await kube.apply(ref, manifest, { force: true, signal });
      if (lost !== undefined) return { said: { type: 'Warning', ...lost }, isSlow: false };
      const done = why === 'Create' ? 'Created' : 'Renewed';
      return did(done, `${done} Secret ${manifest.metadata.name}.`);
    }
    case 'apply': {
      const { ref, manifest } = step.part;
      await kube.apply(ref, manifest, { force: true, signal });
      return did('Applied', `${manifest.kind} ${manifest.metadata.name} is as the spec says.`);
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
      return did('Grown', `Asked for ${size} instead of ${claim.size} for claim ${claim.name}.`);
    }
    default: {
      const { uid, resourceVersion } = step;
      const options = { propagationPolicy: 'Orphan', signal } as const;
      await kube.delete(STATEFUL_SETS, { namespace, name }, { uid, resourceVersion }, options);
      const message = `Deleted StatefulSet ${name} alone, to make it anew with larger claims.`;
      return slowly(did('StatefulSetRenewed', message));
    }
  }
}

async function takeOnServer(
  { kube }: Deps,
  { namespace }: Cluster,
  step: OnServer,
  signal: AbortSignal,
): Promise<Taken> {
  if (step.take === 'delete-claim') {
    const { claim, server } = step;
    await kube.delete(CLAIMS, { namespace, name: claim.name }, { uid: claim.uid }, { signal });
    return did('ClaimDeleted', `Deleted claim ${claim.name} (uid ${claim.uid}) of ${server}.`);
  }
  const { pod, reason } = step;
  const { uid, resourceVersion } = pod;
  await kube.delete(PODS, { namespace, name: pod.name }, { uid, resourceVersion }, { signal });
  return did('Restarted', `Deleted pod ${pod.name} (uid ${uid}). ${reason}`);
}

async function takeOnNats(
  step: OnNats,
  system: Administrator,
  signal: AbortSignal,
): Promise<Taken | Word> {
  switch (step.take) {
    case 'step-down': {
      const { from, to } = step;
      const done = await system.stepDownMeta(to, signal);
      return told(done, 'SteppedDown', `${from} gave up leading the meta group.`);
    }
    case 'move': {
      const { account, stream, server } = step;
      const done = await system.moveStream({ account, stream, server }, signal);
      // It goes on refusing until a person helps.
      if (!done.isDone && done.isAnswered) return refusedMove(step, done.why);
      return told(done, 'StreamMoved', `Stream ${stream} of account ${account} leaves ${server}.`);
    }
    default: {
      const { server, peerId } = step;
      const done = await system.removePeer(peerId, signal);
      return told(done, 'PeerRemoved', `The meta group counts ${server} no more.`);
    }
  }
}

const refusedMove = (step: Extract<Step, { take: 'move' }>, why: string): Word => ({
  reason: 'StreamMoveRefused',
  message:
    `NATS does not move ${nameOf(step)} off ${step.server}: ${why}. Make room for it on the ` +
    'others, or waive it, and it is lost with the server.',
});

function told(done: Done, reason: string, message: string): Taken {
  if (done.isDone) return slowly(did(reason, message));
  const failed = {
    type: 'Warning',
    reason: `Not${reason}`,
    message: `NATS did not confirm it (${done.why}): ${message}`,
  } as const;
  return { said: failed, isSlow: true };
}

async function takeReload(
  deps: Deps,
  world: World,
  { server, id }: Extract<Step, { take: 'reload' }>,
  signal: AbortSignal,
): Promise<Taken> {
  const reload = async (system: Administrator): Promise<Taken> =>
    reloaded(deps, world, server, await system.reload(id, signal));
  try {
    // Straight to it: a route that is closed by the reload would take the answer with it.
    const pods = world.pods.filter(({ name }) => name === server);
    return await withSystem(deps, { ...world, pods }, signal, reload);
  } catch (error) {
    // It speaks plain, and another one has TLS already.
    const isAway = error instanceof Failure && error.code === 'NATS_UNAVAILABLE';
    if (!isAway || world.parts.saysTls !== true) throw error;
    return withSystem(deps, world, signal, reload);
  }
}

/** Whether it took the wanted configuration its digest tells: the file may not have come yet. */
function reloaded(deps: Deps, { cluster, parts }: World, server: string, done: Done): Taken {
  const { refusals } = deps.memoryOf(cluster.uid);
  const digest = parts.rendered === undefined ? '' : configDigest(parts.rendered.config, server);
  if (done.isDone || !done.isAnswered) {
    refusals.delete(server);
    return { isSlow: true };
  }
  refusals.set(server, { digest, why: done.why });
  return { isSlow: true };
}
