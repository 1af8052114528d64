// What the stream lacks to agree with the API server about one object. Pure: no reads, no clock.
import type { Projection } from './projection.ts';
import { subjectOf } from './subjects.ts';

/**
 * What stands on a subject now: the projection, or a tombstone, with the stream sequence it has.
 */
export interface Published {
  readonly subject: string;
  readonly sequence: number;
  readonly value: Projection | Tombstone;
}

export interface Tombstone {
  readonly deleted: true;
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface Input {
  /** The object as the API server has it; undefined when it has none. */
  readonly current: Projection | undefined;
  /** The resourceVersion of the read: what the API server knew when it answered. */
  readonly observedAt: string;
  readonly published: readonly Published[];
}

export interface Step {
  readonly subject: string;
  readonly expectedSequence: number;
  readonly value: Projection | Tombstone;
  readonly reason: 'New' | 'Changed' | 'Moved' | 'Deleted';
}

/**
 * The old place goes before the new one is written: a reader sees an object missing for a moment,
 * never twice.
 */
export function decide({ current, observedAt, published }: Input): readonly Step[] {
  // Another instance read later than this one: its word stands.
  if (published.some(({ value }) => isNewer(value.resourceVersion, observedAt))) return [];
  const target = current === undefined ? undefined : subjectOf(current);
  const reason = current === undefined ? 'Deleted' : 'Moved';
  const tombstones = published
    .filter(({ subject, value }) => subject !== target && !isTombstone(value))
    .map((entry) => tombstone(entry, observedAt, reason));
  if (current === undefined || target === undefined) return tombstones;
  const there = published.find(({ subject }) => subject === target);
  return [...tombstones, ...write(current, target, there)];
}

export function isTombstone(value: Projection | Tombstone): value is Tombstone {
  return 'deleted' in value;
}

function write(
  current: Projection,
  subject: string,
  there: Published | undefined,
): readonly Step[] {
  if (there === undefined) return [{ subject, expectedSequence: 0, value: current, reason: 'New' }];
  const { sequence: expectedSequence, value } = there;
  if (isTombstone(value)) return [{ subject, expectedSequence, value: current, reason: 'New' }];
  if (showsTheSame(value, current)) return [];
  return [{ subject, expectedSequence, value: current, reason: 'Changed' }];
}

function tombstone(entry: Published, observedAt: string, reason: 'Deleted' | 'Moved'): Step {
  const value = { deleted: true, uid: entry.value.uid, resourceVersion: observedAt } as const;
  return { subject: entry.subject, expectedSequence: entry.sequence, value, reason };
}

/** Heartbeats move the resourceVersion and nothing that a reader sees. */
function showsTheSame(published: Projection, current: Projection): boolean {
  return (
    JSON.stringify({ ...published, resourceVersion: '' }) ===
    JSON.stringify({ ...current, resourceVersion: '' })
  );
}

/**
 * Within a kind, resourceVersions are decimal numbers that only grow (stable since Kubernetes
 * 1.35).
 */
export function isNewer(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}
