// The cached state of one object, and its version. An answer or an event moves it forward, and
// never back. Pure.
import type { KubeObject } from '../objects.ts';

export interface Held {
  /** Null when there is no such object. */
  readonly object: KubeObject | null;
  /** Every change up to this resourceVersion is in it. */
  readonly version: string;
}

/**
 * After an answer that shows everything, asked for when `heldThen` was held. The API server answers
 * with nothing older than the question: an answer from before what was held then means that its
 * history went back (etcd was restored), and what it says now holds.
 */
export function afterAnswer(
  held: Held | undefined,
  heldThen: Held | undefined,
  answer: Held,
): Held {
  if (held === undefined || heldThen === undefined) return newer(held, answer);
  // Another answer may have told that already, and a later one is not to be undone.
  const isKnown = isBefore(held.version, heldThen.version);
  return isBefore(answer.version, heldThen.version) && !isKnown ? answer : newer(held, answer);
}

/** The state after a watch event. An event that a later answer has overtaken is dropped. */
export function afterEvent(held: Held, { object, version }: Held): Held {
  const isNews = held.version !== version && !isBefore(version, held.version);
  return isNews ? { object, version } : held;
}

/**
 * After a read of the object alone, asked for when `heldThen` was held: its version is that of its
 * last change, and so may be older than what is held. Where nothing came meanwhile it is the truth;
 * another object of an older version then means that the history went back.
 */
export function afterGet(held: Held | undefined, heldThen: Held | undefined, answer: Held): Held {
  if (held === undefined) return answer;
  if (held !== heldThen) return afterEvent(held, answer);
  return isChange(held, answer) ? answer : held;
}

/** Whether a reader would see another object. */
export function isChange(old: Held | undefined, { object }: Held): boolean {
  if (old === undefined) return true;
  const { uid, resourceVersion } = old.object?.metadata ?? {};
  return uid !== object?.metadata.uid || resourceVersion !== object?.metadata.resourceVersion;
}

const newer = (held: Held | undefined, answer: Held): Held =>
  held !== undefined && isBefore(answer.version, held.version) ? held : answer;

/** Versions that are no numbers tell nothing; what came last is then taken for the latest. */
function isBefore(version: string, other: string): boolean {
  if (!NUMBER.test(version) || !NUMBER.test(other)) return false;
  return version.length === other.length ? version < other : version.length < other.length;
}

const NUMBER = /^(0|[1-9]\d*)$/;
