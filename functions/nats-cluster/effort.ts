// Steps that come to nothing: somebody else takes them back, or the API server keeps an object
// otherwise than it was asked to. They are tried a few times, then with longer and longer pauses,
// and told; what one cluster does again and again costs the others nothing.
import { timestamp } from '../../shared/kube/timestamp.ts';
import type { Step } from './decision.ts';
import { hashOf } from './render/hash.ts';
import type { Word, World } from './world.ts';

/** What was done again and again. */
export interface Effort {
  readonly times: number;
  readonly sinceMs: number;
  readonly lastMs: number;
}

/** By what was done. */
export type Efforts = Map<string, Effort>;

/** An old read, or another instance, may make a step come twice or thrice. */
const TIMES_MAX = 3;
/** A changed Secret is in the pods within two minutes; until then a reload finds the old file. */
const PATIENCE_MS = 180_000;
const PAUSE_MS = 15_000;
const PAUSE_MAX_MS = 300_000;
/** Of servers, which tell nobody that they are ready to do it. */
const ASKING_PAUSE_MS = 60_000;
/** Longer than the longest pause. */
const FORGOTTEN_MS = 600_000;

const ASKING: readonly Step['take'][] = ['reload', 'step-down', 'move', 'remove-peer'];

/** Notes that the step is taken; or says why it is not taken now. */
export function tryAgain(
  efforts: Efforts,
  step: Step,
  next: string,
  { nowMs, parts: { rendered } }: World,
): Word | undefined {
  for (const [key, { lastMs }] of efforts) {
    if (nowMs - lastMs >= FORGOTTEN_MS) efforts.delete(key);
  }
  const key = hashOf({ take: step.take, next, what: whatOf(step) ?? rendered?.config });
  const before = efforts.get(key);
  const word = before && heldBack(before, step, next, nowMs);
  if (word !== undefined) return word;
  const { times = 0, sinceMs = nowMs } = before ?? {};
  efforts.set(key, { times: times + 1, sinceMs, lastMs: nowMs });
  return undefined;
}

/** What tells it from another one with the same words. */
function whatOf(step: Step): unknown {
  switch (step.take) {
    case 'apply':
      return step.part.manifest;
    case 'remember':
      return step.records;
    case 'restart':
    case 'delete-pod':
      return step.pod.uid;
    case 'delete-claim':
      return step.claim.uid;
    default:
      return undefined;
  }
}

function heldBack(before: Effort, { take }: Step, next: string, nowMs: number): Word | undefined {
  const { times, sinceMs, lastMs } = before;
  const isAsking = ASKING.includes(take);
  const isPatient = isAsking ? nowMs - sinceMs < PATIENCE_MS : times < TIMES_MAX;
  const pauseMs = isAsking
    ? ASKING_PAUSE_MS
    : Math.min(PAUSE_MS * 2 ** (times - TIMES_MAX), PAUSE_MAX_MS);
  return isPatient || nowMs - lastMs >= pauseMs ? undefined : noEffect(next, before);
}

function noEffect(next: string, { times, sinceMs }: Effort): Word {
  const message =
    `${next}: done ${times} times since ${timestamp(sinceMs)}, and it changed nothing. A webhook ` +
    'or a server keeps it as it was, or somebody takes it back: compare what is there with the ' +
    'spec (kubectl get -o yaml --show-managed-fields). It is tried again more rarely.';
  return { reason: 'NoEffect', message };
}
