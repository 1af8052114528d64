// What the live view shows at one moment, as plain data, and how its numbers are written.
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

/** What became of the events that passed the filter of one trigger. */
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
  /** What each function answered, by outcome. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<string, Counted>>;
}

export function formatDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${String(seconds % 60).padStart(2, '0')}s`;
  return `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, '0')}m`;
}

export const formatBytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;

export function formatRate(perSecond: number): string {
  return `${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)}/s`;
}

export function totalBytes(parts: readonly PartView[]): number {
  return parts.reduce((sum, { residentBytes = 0 }) => sum + residentBytes, 0);
}

export function countReady(parts: readonly PartView[]): number {
  return parts.filter(({ state }) => state === 'ready').length;
}
