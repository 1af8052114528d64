// Steps that come to nothing: somebody else takes them back, or the API server keeps an object
// otherwise than it was asked to. They are tried a few times, then with longer and longer pauses,
// and told; what one cluster does again and again costs the others nothing.
import type { Reason } from '../../shared/kube/conditions.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import type { Step } from './decision.ts';
import { hashOf } from './render/hash.ts';
import type { State } from './state.ts';

/** What was done again and again. */
export interface Attempts {
  readonly times: number;
  readonly sinceMs: number;
  readonly lastMs: number;
}

/** By what was done. */
export type AttemptLog = Map<string, Attempts>;

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

const ASKING: readonly Step['type'][] = ['reload', 'step-down', 'move', 'remove-peer'];

/** Notes that the step is taken; or says why it is not taken now. */
export function holdBack(
  attempts: AttemptLog,
  step: Step,
  next: string,
  { nowMs, parts: { rendered } }: State,
): Reason | undefined {
  for (const [key, { lastMs }] of attempts) {
    if (nowMs - lastMs >= FORGOTTEN_MS) attempts.delete(key);
  }
  const key = hashOf({ type: step.type, next, target: targetOf(step) ?? rendered?.config });
  const before = attempts.get(key);
  const reason = before && heldBack(before, step, next, nowMs);
  if (reason !== undefined) return reason;
  const { times = 0, sinceMs = nowMs } = before ?? {};
  attempts.set(key, { times: times + 1, sinceMs, lastMs: nowMs });
  return undefined;
}

/** What tells it from another one with the same words. */
function targetOf(step: Step): unknown {
  switch (step.type) {
    case 'apply':
      return step.part.manifest;
    case 'write-records':
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

function heldBack(
  before: Attempts,
  { type }: Step,
  next: string,
  nowMs: number,
): Reason | undefined {
  const { times, sinceMs, lastMs } = before;
  const isAsking = ASKING.includes(type);
  const isPatient = isAsking ? nowMs - sinceMs < PATIENCE_MS : times < TIMES_MAX;
  const pauseMs = isAsking
    ? ASKING_PAUSE_MS
    : Math.min(PAUSE_MS * 2 ** (times - TIMES_MAX), PAUSE_MAX_MS);
  return isPatient || nowMs - lastMs >= pauseMs ? undefined : noEffect(next, before);
}

function noEffect(next: string, { times, sinceMs }: Attempts): Reason {
  const message =
    `${next}: done ${times} times since ${timestamp(sinceMs)}, and it changed nothing. A webhook ` +
    'or a server keeps it as it was, or somebody takes it back: compare what is there with the ' +
    'spec (kubectl get -o yaml --show-managed-fields). It is tried again more rarely.';
  return { reason: 'NoEffect', message };
}
