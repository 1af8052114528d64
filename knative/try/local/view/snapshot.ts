// The content of the live view at one moment, as plain data.
import type { PartState } from '../process/part.ts';
import type { FeedView } from './feed-view.ts';
import type { Counted } from './rates.ts';

export interface PartView {
  readonly name: string;
  readonly state: PartState;
  readonly pid: number | undefined;
  readonly inStateMs: number;
  readonly residentBytes: number | undefined;
  /** How often it died without being asked to. */
  readonly deaths: number;
}

/** Results of the events that passed the filter of one trigger. */
export interface TriggerView {
  readonly name: string;
  readonly pending: number;
  readonly delivered: Counted;
  readonly retries: number;
  /** Given up, whether a dead letter sink took them or not. */
  readonly failed: number;
}

export interface Snapshot {
  readonly upMs: number;
  readonly parts: readonly PartView[];
  /** Events that the broker took in, by type and the kind of their object. */
  readonly events: ReadonlyMap<string, Counted>;
  readonly feeds: readonly FeedView[];
  readonly triggers: readonly TriggerView[];
  /** Answers of each function, by outcome. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<string, Counted>>;
}

export function totalBytes(parts: readonly PartView[]): number {
  return parts.reduce((sum, { residentBytes = 0 }) => sum + residentBytes, 0);
}

export function countReady(parts: readonly PartView[]): number {
  return parts.filter(({ state }) => state === 'ready').length;
}
