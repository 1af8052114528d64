// Applies the steps on servers in pods that are the same whatever they serve. Each changes one
// thing, on condition that it is still as it was observed, and returns the Event to create.
import type { KubeClient } from '../kube/client.ts';
import type { Reason } from '../kube/conditions.ts';
import type { ObjectEvent } from '../kube/event-recorder.ts';
import type { SecretToMake } from './certificates/secret-data.ts';
import type { Claim } from './claims.ts';
import { CLAIMS, type Owner, PODS, type RenderedPart, STATEFUL_SETS } from './parts.ts';
import type { Pod } from './pods.ts';

type PartStep<Key extends string> =
  | { readonly type: 'make-secret'; readonly secret: SecretToMake }
  | { readonly type: 'apply'; readonly part: RenderedPart<Key> }
  | { readonly type: 'grow'; readonly claim: Claim; readonly size: string }
  /**
   * Deletes the StatefulSet alone and leaves its pods to the next one: its claim template is
   * immutable.
   */
  | { readonly type: 'orphan'; readonly uid: string; readonly resourceVersion: string };

type ServerStep =
  | { readonly type: 'restart'; readonly pod: Pod; readonly reason: string }
  | { readonly type: 'delete-pod'; readonly pod: Pod; readonly reason: string }
  | { readonly type: 'delete-claim'; readonly claim: Claim; readonly server: string };

/** One change of parts, pods or claims; the keys are those of the function's parts. */
export type StatefulStep<Key extends string> = PartStep<Key> | ServerStep;

export interface StepResult {
  /** Absent when there is nothing to report yet. */
  readonly event?: ObjectEvent;
  /** The step takes effect later: an observation right after it would see nothing new. */
  readonly isSlow: boolean;
}

export const applied = (reason: string, message: string): StepResult => ({
  event: { type: 'Normal', reason, message },
  isSlow: false,
});

/** `who` refused, or did not answer in time: the next observation tells what became of it. */
export const unconfirmed = (who: string, why: string, { reason, message }: Reason): StepResult => ({
  event: {
    type: 'Warning',
    reason: `Not${reason}`,
    message: `${who} did not confirm it (${why}): ${message}`,
  },
  isSlow: true,
});

export const slowly = (result: StepResult): StepResult => ({ ...result, isSlow: true });

/** `owner` is in the namespace of what the step changes, and its StatefulSet has its name. */
export async function applyStatefulStep(
  kube: KubeClient,
  owner: Pick<Owner, 'namespace' | 'name'>,
  step: StatefulStep<string>,
  signal: AbortSignal,
): Promise<StepResult> {
  switch (step.type) {
    case 'make-secret':
      return makeSecret(kube, step.secret, signal);
    case 'apply': {
      const { ref, manifest } = step.part;
      await kube.apply(ref, manifest, { force: true, signal });
      return applied('Applied', `${manifest.kind} ${manifest.metadata.name} is as the spec says.`);
    }
    case 'grow':
    case 'delete-claim':
      return applyToClaim(kube, owner, step, signal);
    case 'orphan': {
      const { name } = owner;
      const { uid, resourceVersion } = step;
      const options = { propagationPolicy: 'Orphan', signal } as const;
      await kube.delete(STATEFUL_SETS, at(owner, name), { uid, resourceVersion }, options);
      const message = `Deleted StatefulSet ${name} alone, to make it anew with larger claims.`;
      return slowly(applied('StatefulSetRenewed', message));
    }
    default: {
      const { pod, reason } = step;
      const { name, uid, resourceVersion } = pod;
      await kube.delete(PODS, at(owner, name), { uid, resourceVersion }, { signal });
      return applied('Restarted', `Deleted pod ${name} (uid ${uid}). ${reason}`);
    }
  }
}

const at = ({ namespace }: Pick<Owner, 'namespace'>, name: string) => ({ namespace, name });

async function makeSecret(
  kube: KubeClient,
  { ref, manifest, why, lost }: SecretToMake,
  signal: AbortSignal,
): Promise<StepResult> {
  // A Secret that another instance created meanwhile stays: servers may have its password already.
  if (why === 'Create') await kube.create(ref, manifest, { signal });
  else await kube.apply(ref, manifest, { force: true, signal });
  if (lost !== undefined) return { event: { type: 'Warning', ...lost }, isSlow: false };
  const done = why === 'Create' ? 'Created' : 'Renewed';
  return applied(done, `${done} Secret ${manifest.metadata.name}.`);
}

async function applyToClaim(
  kube: KubeClient,
  owner: Pick<Owner, 'namespace'>,
  step: Extract<StatefulStep<string>, { type: 'grow' | 'delete-claim' }>,
  signal: AbortSignal,
): Promise<StepResult> {
  const { name, uid, size: before } = step.claim;
  if (step.type === 'delete-claim') {
    await kube.delete(CLAIMS, at(owner, name), { uid }, { signal });
    return applied('ClaimDeleted', `Deleted claim ${name} (uid ${uid}) of ${step.server}.`);
  }
  const body = { spec: { resources: { requests: { storage: step.size } } } };
  await kube.patch(CLAIMS, at(owner, name), { type: 'merge', body }, { signal });
  return applied('Grown', `Asked for ${step.size} instead of ${before} for claim ${name}.`);
}
