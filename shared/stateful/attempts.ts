// Holds back steps that change nothing: somebody reverts them, or the API server keeps the object
// otherwise than asked. They are tried a few times, then after longer and longer pauses, and
// reported; so a cluster that never settles costs the others nothing.
import type { Reason } from '../kube/conditions.ts';
import { timestamp } from '../kube/timestamp.ts';

/** A step that is about to be applied. */
export interface Attempt {
  /** Tells it from all other steps, and from itself once it would change something else. */
  readonly key: string;
  /** The step in words. */
  readonly next: string;
  /** It asks a server for something, which may not be ready for it yet. */
  readonly isAsking: boolean;
  /** The part that it changes: another step about it has another aim, and this one is over. */
  readonly about?: string;
}

/** How often one step was applied, and since when. */
export interface Attempts {
  readonly times: number;
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly about?: string | undefined;
  /** Why the API server did not take it. */
  readonly refusal?: Reason;
}

/** By the keys of steps. */
export type AttemptLog = Map<string, Attempts>;

/** A stale read or a second instance may repeat a step two or three times. */
const TIMES_MAX = 3;
/** A changed Secret is in the pods within two minutes; until then a reload finds the old file. */
const PATIENCE_MS = 180_000;
const PAUSE_MS = 15_000;
const PAUSE_MAX_MS = 300_000;
/**
 * Servers send no event when they are ready for the step, so it is tried again after this pause.
 */
const ASKING_PAUSE_MS = 60_000;
/** Longer than the longest pause. */
const FORGOTTEN_MS = 600_000;

/** Counts the step as applied; or returns the reason why it must not be applied now. */
export function holdBack(
  attempts: AttemptLog,
  attempt: Attempt,
  nowMs: number,
): Reason | undefined {
  const { about } = attempt;
  for (const [key, one] of attempts) {
    const isOver = about !== undefined && one.about === about && key !== attempt.key;
    if (isOver || nowMs - one.lastMs >= FORGOTTEN_MS) attempts.delete(key);
  }
  const before = attempts.get(attempt.key);
  const reason = before && heldBack(before, attempt, nowMs);
  if (reason !== undefined) return reason;
  const { times = 0, sinceMs = nowMs } = before ?? {};
  attempts.set(attempt.key, { times: times + 1, sinceMs, lastMs: nowMs, about });
  return undefined;
}

/** It is told while the step is held back, since it says more than that nothing changed. */
export function keepRefusal(attempts: AttemptLog, { key }: Attempt, refusal: Reason): void {
  const known = attempts.get(key);
  if (known !== undefined) attempts.set(key, { ...known, refusal });
}

function heldBack(
  before: Attempts,
  { isAsking, next }: Attempt,
  nowMs: number,
): Reason | undefined {
  const { times, sinceMs, lastMs } = before;
  const isPatient = isAsking ? nowMs - sinceMs < PATIENCE_MS : times < TIMES_MAX;
  const pauseMs = isAsking
    ? ASKING_PAUSE_MS
    : Math.min(PAUSE_MS * 2 ** (times - TIMES_MAX), PAUSE_MAX_MS);
  if (isPatient || nowMs - lastMs >= pauseMs) return undefined;
  return before.refusal ?? noEffect(next, before);
}

function noEffect(next: string, { times, sinceMs }: Attempts): Reason {
  const message =
    `${next}: done ${times} times since ${timestamp(sinceMs)}, and it changed nothing. A webhook ` +
    'or a server keeps it as it was, or somebody takes it back: compare what is there with the ' +
    'spec (kubectl get -o yaml --show-managed-fields). It is tried again more rarely.';
  return { reason: 'NoEffect', message };
}
