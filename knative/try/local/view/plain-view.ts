// The live view as lines, for pipes and logs: what changed when it changes, and a summary every few
// seconds.
import type { PartChange } from '../process/part.ts';
import { feedClause } from './feed-view.ts';
import { byTotal } from './frame.ts';
import type { Counted } from './rates.ts';
import { type Snapshot, countReady, totalBytes } from './snapshot.ts';
import { formatDuration, formatBytes, formatRate } from './format.ts';
import { type LiveView, describeDeath, describeWait } from './view.ts';

/** Six lines a minute tell whether events flow without filling a log. */
const SUMMARY_EVERY_MS = 10_000;
/** Clauses of each sort; a line has to be read at a glance. */
const CLAUSES_MAX = 4;

export class PlainView implements LiveView {
  readonly #write: (text: string) => void;
  readonly #hasDied = new Set<string>();
  #summaryAtMs = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  print(text: string): void {
    this.#write(`${text}\n`);
  }

  partChanged(change: PartChange): void {
    const wait = describeWait(change);
    if (wait !== undefined) return this.print(wait);
    const { part, state } = change;
    if (state === 'dead') {
      this.#hasDied.add(part.name);
      this.print(describeDeath(change));
    }
    if (state === 'starting' && this.#hasDied.has(part.name)) {
      this.print(`${part.name} is started again`);
    }
    if (state === 'ready') this.print(`${part.name} is ready (pid ${part.pid ?? '-'})`);
  }

  show(snapshot: Snapshot): void {
    if (snapshot.upMs < this.#summaryAtMs) return;
    this.#summaryAtMs = snapshot.upMs + SUMMARY_EVERY_MS;
    this.print(summary(snapshot));
  }

  close(): void {
    // Nothing is pending: each line was written when it was known.
  }
}

function summary({ upMs, parts, feeds, events, answers }: Snapshot): string {
  const clauses = [
    `up ${formatDuration(upMs)}`,
    `${countReady(parts)} of ${parts.length} parts ready`,
    formatBytes(totalBytes(parts)),
    ...feeds.map(feedClause),
    `events in: ${list(events)}`,
    ...[...answers].map(([name, outcomes]) => `${name} answered: ${list(outcomes)}`),
  ];
  return clauses.join('; ');
}

function list(counted: ReadonlyMap<string, Counted>): string {
  if (counted.size === 0) return 'none yet';
  const most = byTotal(counted).slice(0, CLAUSES_MAX);
  const clauses = most.map(
    ([key, { total, perSecond }]) => `${key} ${total} (${formatRate(perSecond)})`,
  );
  const rest = counted.size - most.length;
  return [...clauses, ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ');
}
