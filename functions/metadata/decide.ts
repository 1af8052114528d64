// What the stream lacks to agree with the API server about one object. Pure: no reads, no clock.
import type { Shown } from '../../shared/feed/projections/show.ts';
import {
  type FeedMessage,
  type LastSeen,
  type ObjectMessage,
  type Tombstone,
  isTombstone,
} from '../../shared/feed/messages.ts';

/** What stands on a subject now. */
export interface Published {
  readonly subject: string;
  readonly sequence: number;
  /** How much it weighs in the stream. */
  readonly bytes: number;
  /** Undefined when it is none of ours: it stops no look, and is overwritten in its turn. */
  readonly message: FeedMessage | undefined;
}

/** One object as it was seen. */
export interface DesiredState {
  readonly epoch: number;
  /** As of when: the object's own version, or that of the read that did not find it. */
  readonly resourceVersion: string;
  /** Everything that the feed has to show of it; nothing when it is gone or not selected. */
  readonly shown: readonly Shown[];
  /** The subject whose message names the others; undefined where each stands for itself. */
  readonly head: string | undefined;
  /** Subjects that must not be free for an older sight of it, though nothing stands there. */
  readonly closed: readonly string[];
  /** What a tombstone names when there is nothing else to name. */
  readonly uid: string;
  /** RFC 3339. */
  readonly at: string;
  /** It was read from the API server after the stream: whatever claims to be newer is unfounded. */
  readonly isAuthoritative: boolean;
}

export interface Step {
  readonly subject: string;
  readonly expectedSequence: number;
  readonly message: FeedMessage;
  /** When it was decided, RFC 3339. */
  readonly at: string;
}

/** All steps of a decision are taken together or not at all. */
export interface Decision {
  /**
   * `overtaken`: somebody published what he saw later than this, and his word stands. `unfounded`:
   * what stood claimed to be later than the truth.
   */
  readonly outcome: 'unchanged' | 'changed' | 'overtaken' | 'unfounded';
  readonly steps: readonly Step[];
  /** Subjects on which somebody claims to know something later: nothing is decided about them. */
  readonly disputed: readonly string[];
}

export function decide(sight: DesiredState, published: readonly Published[]): Decision {
  const newer = sight.isAuthoritative ? [] : published.filter((entry) => isLater(entry, sight));
  // What is gone is gone wherever it stood before; what came by its name later stays.
  const older = published.filter((entry) => !newer.includes(entry));
  const disputed = newer.map(({ subject }) => subject);
  if (newer.length > 0 && sight.shown.length > 0)
    return { outcome: 'overtaken', steps: [], disputed };
  const there = new Map(published.map((entry) => [entry.subject, entry]));
  const writes = sight.shown.flatMap(({ subject, message }) =>
    write(subject, message, there.get(subject), sight.at),
  );
  const parts = [...tombstones(sight, older), ...writes];
  const changes = [...parts, ...headWithParts(sight, parts, there)];
  const isNews = changes.length > 0 || sight.shown.length === 0;
  const steps = isNews ? [...changes, ...guardTombstones(sight, there)] : [];
  if (steps.length === 0) {
    return { outcome: newer.length > 0 ? 'overtaken' : 'unchanged', steps, disputed };
  }
  const isUnfounded = published.some((entry) => isLater(entry, sight)) && sight.isAuthoritative;
  return { outcome: isUnfounded ? 'unfounded' : 'changed', steps, disputed };
}

const isLater = ({ message }: Published, sight: DesiredState): boolean =>
  message !== undefined && isNewer(message, sight);

export const holdsObject = ({ message }: Published): boolean =>
  message !== undefined && !isTombstone(message);

function write(
  subject: string,
  message: ObjectMessage,
  there: Published | undefined,
  at: string,
): readonly Step[] {
  const expectedSequence = there?.sequence ?? 0;
  if (there?.message !== undefined && showsTheSame(there.message, message)) return [];
  return [{ subject, expectedSequence, message, at }];
}

/**
 * Parts are found again by their head alone, and how new all of it is stands there. So the head is
 * written with any of them even when it says the same: two looks at a time cannot both succeed.
 */
function headWithParts(
  { head, shown, at }: DesiredState,
  parts: readonly Step[],
  there: ReadonlyMap<string, Published>,
): readonly Step[] {
  const named = shown.find(({ subject }) => subject === head);
  if (named === undefined || parts.length === 0) return [];
  if (parts.some(({ subject }) => subject === head)) return [];
  const { subject, message } = named;
  return [{ subject, expectedSequence: there.get(subject)?.sequence ?? 0, message, at }];
}

/** Where it stood and stands no more. */
function tombstones(sight: DesiredState, published: readonly Published[]): readonly Step[] {
  const targets = new Set(sight.shown.map(({ subject }) => subject));
  return published.flatMap(({ subject, sequence, message }) => {
    if (targets.has(subject) || message === undefined) return [];
    // One that claims to be of the future would keep out whatever comes by this name.
    if (isTombstone(message) && !(sight.isAuthoritative && isNewer(message, sight))) return [];
    const last = isTombstone(message) ? message.last : lastOf(message);
    const value = { ...tombstone(sight, message.uid), ...(last === undefined ? {} : { last }) };
    return [{ subject, expectedSequence: sequence, message: value, at: sight.at }];
  });
}

/**
 * So that an older sight that comes late finds that it is late. A tombstone of an earlier life does
 * not tell it that: the older sight may be of this life.
 */
function guardTombstones(
  sight: DesiredState,
  there: ReadonlyMap<string, Published>,
): readonly Step[] {
  const { at, uid } = sight;
  return sight.closed.flatMap((subject) => {
    const { message, sequence: expectedSequence } = there.get(subject) ?? { sequence: 0 };
    const isOpen =
      expectedSequence === 0 ||
      (message !== undefined &&
        isTombstone(message) &&
        message.uid !== uid &&
        !isNewer(message, sight));
    return isOpen ? [{ subject, expectedSequence, message: tombstone(sight, uid), at }] : [];
  });
}

function tombstone({ epoch, resourceVersion, at, shown }: DesiredState, uid: string): Tombstone {
  const moved = shown.length > 0 ? ({ moved: true } as const) : {};
  return { deleted: true, epoch, uid, resourceVersion, at, ...moved };
}

/** What questions about the past are answered from. */
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
 * Heartbeats move the resourceVersion and nothing that a reader sees. A message of an earlier
 * epoch is written anew whatever it shows: its version means nothing any more.
 */
function showsTheSame(published: FeedMessage, message: ObjectMessage): boolean {
  if (isTombstone(published) || published.epoch !== message.epoch) return false;
  return visible(published) === visible(asRead(message));
}

const visible = (message: ObjectMessage): string =>
  JSON.stringify({ ...message, resourceVersion: '' });

/** Named fields may hold numbers that come back from their bytes as other numbers. */
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

/** What can be compared; nobody says how long one may be. */
export const isRevision = (version: string): boolean => /^[1-9]\d*$/.test(version);

/**
 * Within a kind, resourceVersions are decimal numbers that only grow (stable since Kubernetes
 * 1.35).
 */
export function compareVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : Number(a > b);
}
