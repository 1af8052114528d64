// Views of a running plane for a person: one that repaints itself on a terminal, one that writes
// lines.
import type { PartChange } from '../process/part.ts';
import type { Snapshot } from './snapshot.ts';

export interface LiveView {
  /** Something that is said once and stays. */
  print(text: string): void;
  partChanged(change: PartChange): void;
  show(snapshot: Snapshot): void;
  /** The last picture stays; only what is said comes after it. */
  close(): void;
}

/** Enough to see why, short enough to leave the rest of the screen. */
const LAST_LINES = 5;

/** The thing that a slow part waits for. */
export function describeWait(change: PartChange): string | undefined {
  const { part, awaits } = change;
  if (awaits === undefined) return undefined;
  const seconds = Math.round((Date.now() - part.sinceMs) / 1000);
  return `${part.name} is not ready after ${seconds} s: ${awaits}`;
}

/** The death of a part, with the last that it wrote. */
export function describeDeath({ part, ending = 'gone' }: PartChange): string {
  const lines = part.lastLines(LAST_LINES);
  if (lines.length === 0) return `${part.name} died (${ending}). It printed nothing.`;
  const quoted = lines.map((line) => `  | ${line}`).join('\n');
  return `${part.name} died (${ending}). Its last lines:\n${quoted}`;
}
