// Starts a part again that died without being asked to, as a kubelet would: at once, then after
// longer and longer pauses.
import type { PartChange } from './part.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** A part that was ready this long has recovered; its next death starts the pauses anew. */
const RECOVERED_MS = 60_000;

export class Supervisor {
  readonly #policy: 'never' | 'backoff';
  readonly #listener: (change: PartChange) => void;
  readonly #pausesMs = new Map<string, number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #wasReady = new Map<string, number>();
  #isClosed = false;

  constructor(policy: 'never' | 'backoff', listener: (change: PartChange) => void) {
    this.#policy = policy;
    this.#listener = listener;
  }

  readonly onChange = (change: PartChange): void => {
    this.#listener(change);
    if (change.state === 'ready') this.#wasReady.set(change.part.name, Date.now());
    if (change.state === 'dead' && this.#policy === 'backoff') this.#scheduleStart(change);
  };

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #scheduleStart({ part }: PartChange): void {
    const readyAt = this.#wasReady.get(part.name);
    // A part that never came up is its starter's to judge.
    if (this.#isClosed || readyAt === undefined) return;
    const hasRecovered = Date.now() - readyAt > RECOVERED_MS;
    const pauseMs = hasRecovered
      ? FIRST_PAUSE_MS
      : (this.#pausesMs.get(part.name) ?? FIRST_PAUSE_MS);
    this.#pausesMs.set(part.name, Math.min(pauseMs * 2, LONGEST_PAUSE_MS));
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      // A failed start ends in the state dead, which comes back here.
      part.start().catch(() => undefined);
    }, pauseMs);
    this.#timers.add(timer);
  }
}
