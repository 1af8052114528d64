// Decides which messages the stream lacks to agree with the API server about one object. An older
// event never overwrites a newer state: `isNewer` compares epoch, then resourceVersion; the older
// side loses; and steps name the sequence that they replace. Pure.
import type { Shown } from '../../shared/feed/projections/show.ts';
import {
  type FeedMessage,
  type LastSeen,
  type ObjectMessage,
  type Tombstone,
  isTombstone,
} from '../../shared/feed/messages.ts';

/** The message that stands on a subject. */
export interface Published {
  readonly subject: string;
  readonly sequence: number;
  /** The message's size in the stream. */
  readonly bytes: number;
  /**
   * Undefined when a stranger wrote it: it holds up no decision, and the next message overwrites
   * it.
   */
  readonly message: FeedMessage | undefined;
}

/** The messages that the stream should hold about one object, as of one observation. */
export interface DesiredState {
  readonly epoch: number;
  /** The object's own version, or that of the read that did not find it. */
  readonly resourceVersion: string;
  /** All messages to show; none when the object is gone or not selected. */
  readonly shown: readonly Shown[];
  /** The subject whose message names the others; undefined where no message names another. */
  readonly head: string | undefined;
  /**
   * Subjects to guard against an older observation that arrives late, even if no message stands
   * there.
   */
  readonly guarded: readonly string[];
  /** The uid for a tombstone that replaces no message. */
  readonly uid: string;
  /** RFC 3339. */
  readonly at: string;
  /**
   * The object was read from the API server after the stream was read. A message that claims to be
   * newer is then wrong.
   */
  readonly isAuthoritative: boolean;
}

export interface Step {
  readonly subject: string;
  readonly expectedSequence: number;
  readonly message: FeedMessage;
  /** The time of the decision, RFC 3339. */
  readonly at: string;
}

/** The steps of a decision are applied all together or not at all. */
export interface Decision {
  /**
   * `overtaken`: another instance published a newer observation, and that one stays. `unfounded`: a
   * message claimed to be newer than the API server's own state.
   */
  readonly outcome: 'unchanged' | 'changed' | 'overtaken' | 'unfounded';
  readonly steps: readonly Step[];
  /** Subjects with a message that claims to be newer: nothing is decided about them. */
  readonly disputed: readonly string[];
}

export function decide(desired: DesiredState, published: readonly Published[]): Decision {
  const newer = desired.isAuthoritative ? [] : published.filter((entry) => isLater(entry, desired));
  // An absence ends every older message. A newer one, of an object created again under the name,
  // stays.
  const older = published.filter((entry) => !newer.includes(entry));
  const disputed = newer.map(({ subject }) => subject);
  if (newer.length > 0 && desired.shown.length > 0)
    return { outcome: 'overtaken', steps: [], disputed };
  const current = new Map(published.map((entry) => [entry.subject, entry]));
  const writes = desired.shown.flatMap(({ subject, message }) =>
    write(subject, message, current.get(subject), desired.at),
  );
  const parts = [...tombstones(desired, older), ...writes];
  const changes = [...parts, ...headWithParts(desired, parts, current)];
  const isNews = changes.length > 0 || desired.shown.length === 0;
  const steps = isNews ? [...changes, ...guardTombstones(desired, current)] : [];
  if (steps.length === 0) {
    return { outcome: newer.length > 0 ? 'overtaken' : 'unchanged', steps, disputed };
  }
  const isUnfounded = published.some((entry) => isLater(entry, desired)) && desired.isAuthoritative;
  return { outcome: isUnfounded ? 'unfounded' : 'changed', steps, disputed };
}

const isLater = ({ message }: Published, desired: DesiredState): boolean =>
  message !== undefined && isNewer(message, desired);

export const holdsObject = ({ message }: Published): boolean =>
  message !== undefined && !isTombstone(message);

function write(
  subject: string,
  message: ObjectMessage,
  current: Published | undefined,
  at: string,
): readonly Step[] {
  const expectedSequence = current?.sequence ?? 0;
  if (current?.message !== undefined && showsTheSame(current.message, message)) return [];
  return [{ subject, expectedSequence, message, at }];
}

/**
 * The parts of a slice are found by its head alone, and the head's version says how new all of them
 * are. So the head is written with any part, even when it is unchanged: of two concurrent writers
 * only one can succeed.
 */
function headWithParts(
  { head, shown, at }: DesiredState,
  parts: readonly Step[],
  current: ReadonlyMap<string, Published>,
): readonly Step[] {
  const named = shown.find(({ subject }) => subject === head);
  if (named === undefined || parts.length === 0) return [];
  if (parts.some(({ subject }) => subject === head)) return [];
  const { subject, message } = named;
  return [{ subject, expectedSequence: current.get(subject)?.sequence ?? 0, message, at }];
}

/** Tombstones for subjects on which the object stood and stands no more. */
function tombstones(desired: DesiredState, published: readonly Published[]): readonly Step[] {
  const targets = new Set(desired.shown.map(({ subject }) => subject));
  return published.flatMap(({ subject, sequence, message }) => {
    if (targets.has(subject) || message === undefined) return [];
    // A tombstone with a version of the future would keep out every later object of this name.
    if (isTombstone(message) && !(desired.isAuthoritative && isNewer(message, desired))) return [];
    const last = isTombstone(message) ? message.last : lastOf(message);
    const value = { ...tombstone(desired, message.uid), ...(last === undefined ? {} : { last }) };
    return [{ subject, expectedSequence: sequence, message: value, at: desired.at }];
  });
}

/**
 * Guard tombstones make an older observation that arrives late lose its compare-and-set. A
 * tombstone of an earlier object of that name is no guard: the late observation may be about this
 * object.
 */
function guardTombstones(
  desired: DesiredState,
  current: ReadonlyMap<string, Published>,
): readonly Step[] {
  const { at, uid } = desired;
  return desired.guarded.flatMap((subject) => {
    const { message, sequence: expectedSequence } = current.get(subject) ?? { sequence: 0 };
    const isOpen =
      expectedSequence === 0 ||
      (message !== undefined &&
        isTombstone(message) &&
        message.uid !== uid &&
        !isNewer(message, desired));
    return isOpen ? [{ subject, expectedSequence, message: tombstone(desired, uid), at }] : [];
  });
}

function tombstone({ epoch, resourceVersion, at, shown }: DesiredState, uid: string): Tombstone {
  const moved = shown.length > 0 ? ({ moved: true } as const) : {};
  return { deleted: true, epoch, uid, resourceVersion, at, ...moved };
}

/** Fields that queries about the past are answered from. */
function lastOf(message: ObjectMessage): LastSeen {
  const { kind, created, node, ips, owner } = message;
  return {
    kind,
    ...(created === undefined ? {} : { created }),
    ...(node === undefined ? {} : { node }),
    ...(ips === undefined ? {} : { ips }),
    ...(owner === undefined ? {} : { owner }),
  };
}

/**
 * Heartbeats change the resourceVersion and nothing that a reader sees. A message of an earlier
 * epoch is always written anew: its version cannot be compared any more.
 */
function showsTheSame(published: FeedMessage, message: ObjectMessage): boolean {
  if (isTombstone(published) || published.epoch !== message.epoch) return false;
  return visible(published) === visible(asRead(message));
}

const visible = (message: ObjectMessage): string =>
  JSON.stringify({ ...message, resourceVersion: '' });

/** Fields that a feed names may hold numbers that change when they are encoded and decoded. */
function asRead(message: ObjectMessage): ObjectMessage {
  if (message.fields === undefined) return message;
  const fields: unknown = JSON.parse(JSON.stringify(message.fields));
  return typeof fields === 'object' && fields !== null
    ? { ...message, fields: { ...fields } }
    : message;
}

type Versioned = Pick<FeedMessage, 'epoch' | 'resourceVersion'>;

export function isNewer(a: Versioned, b: Versioned): boolean {
  if (a.epoch !== b.epoch) return a.epoch > b.epoch;
  return compareVersions(a.resourceVersion, b.resourceVersion) > 0;
}

/** A decimal number. Its length has no limit. */
export const isRevision = (version: string): boolean => /^[1-9]\d*$/.test(version);

/**
 * Within a kind, resourceVersions are decimal numbers that only grow (stable since Kubernetes
 * 1.35).
 */
export function compareVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : Number(a > b);
}
