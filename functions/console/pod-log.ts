// Pods and nodes of the feed as a log that browsers follow, with the services that send to each
// pod: each line replaces the one before it of the same name, so that reading from the beginning
// and reading what is new are the same. It never holds much more lines than there are objects.
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../shared/clock.ts';
import { cut } from '../../shared/cut.ts';
import type { ObjectMessage } from '../../shared/feed/messages.ts';
import type { Change } from '../../shared/nats/replica/changes.ts';
import type { Entry } from '../../shared/nats/replica/entry.ts';
import { SLICES } from '../../shared/nats/replica/indexes.ts';
import type { Row } from './answers.ts';
import { Served } from './served.ts';

interface Line {
  readonly sequence: number;
  readonly key: string;
  /** Where it stood in the feed: an object that moves is on two subjects for a moment. */
  readonly subject: string;
  readonly row: Row;
  readonly isGone: boolean;
}

export interface Page {
  /** Where to go on; another id than before: what was held is of another log. */
  readonly id: string;
  readonly next: number;
  readonly isReset: boolean;
  readonly isWhole: boolean;
  readonly rows: readonly Row[];
}

export interface PodLogLimits {
  readonly rowsMax: number;
  readonly bytesMax: number;
  readonly goneMax: number;
  readonly waitersMax: number;
}

export const LIMITS: PodLogLimits = {
  rowsMax: 5_000,
  bytesMax: 512 * 1024,
  /** A page that was away for longer reads all anew. */
  goneMax: 20_000,
  /** More than that ask again and again instead of waiting. */
  waitersMax: 50,
};

/** Lines that mean nothing any more, until they are swept out. */
const SLACK = 1_000;
const TEXT_BYTES_MAX = 260;

export class PodLog {
  readonly #limits: PodLogLimits;
  #id = randomUUID();
  #lines: Line[] = [];
  readonly #current = new Map<string, Line>();
  readonly #served = new Served();
  #gone = 0;
  #last = 0;
  /** Names that were gone up to here are forgotten. */
  #floor = 0;
  readonly #waiters = new Set<() => void>();

  constructor(limits: PodLogLimits = LIMITS) {
    this.#limits = limits;
  }

  /** Lines that are held; for those who watch its memory. */
  get size(): number {
    return this.#lines.length;
  }

  apply(change: Change): void {
    if (change.type === 'resync') return this.#startOver();
    const { entry } = change;
    const { resource, namespace, name } = entry.key;
    if (resource === SLICES) return this.#serve(this.#served.apply(change));
    const kind = kindOf(entry);
    if (kind === undefined) return;
    const key = `${kind}/${namespace}/${name}`;
    const before = this.#current.get(key);
    if (change.type !== 'removed') {
      const services = kind === 'p' ? this.#servicesOf(`${namespace}/${name}`) : '';
      return this.#put(key, entry.subject, rowOf(kind, entry, services), false);
    }
    if (before === undefined || before.isGone || before.subject !== entry.subject) return;
    this.#put(key, entry.subject, [kind, namespace, name], true);
  }

  /** `after` is 0 for the beginning. */
  read(id: string, after: number): Page {
    const isKnown = id === this.#id && after >= this.#floor && after <= this.#last;
    const from = isKnown ? after : 0;
    const rows: Row[] = [];
    let bytes = 0;
    let next = from;
    for (let index = this.#indexAfter(from); index < this.#lines.length; index += 1) {
      const line = this.#lines[index];
      if (line === undefined) break;
      const isShown = this.#current.get(line.key) === line && !(line.isGone && from === 0);
      if (isShown) {
        bytes += JSON.stringify(line.row).length;
        const isFull = rows.length >= this.#limits.rowsMax || bytes > this.#limits.bytesMax;
        if (isFull && rows.length > 0) break;
        rows.push(line.row);
      }
      next = line.sequence;
    }
    const isWhole = next === this.#last || rows.length === 0;
    return { id: this.#id, next: isWhole ? this.#last : next, isReset: !isKnown, isWhole, rows };
  }

  /** Resolves when there is something after it, or after that time; at once for one too many. */
  async wait(
    id: string,
    after: number,
    ms: number,
    clock: Clock,
    signal: AbortSignal,
  ): Promise<void> {
    if (id !== this.#id || after !== this.#last) return;
    if (this.#waiters.size >= this.#limits.waitersMax) return;
    const changed = Promise.withResolvers<void>();
    const wake = (): void => changed.resolve();
    const over = new AbortController();
    this.#waiters.add(wake);
    try {
      const either = AbortSignal.any([signal, over.signal]);
      await Promise.race([changed.promise, clock.sleep(ms, either).catch(wake)]);
    } finally {
      this.#waiters.delete(wake);
      over.abort();
    }
  }

  /** The rows of these pods, with the services that they have now. */
  #serve(pods: readonly string[]): void {
    for (const pod of pods) {
      const key = `p/${pod}`;
      const line = this.#current.get(key);
      // One that is not there yet comes with them.
      if (line === undefined || line.row.length === 3) continue;
      const [kind, namespace, name, node, ips, state] = line.row;
      const row: Row = [kind, namespace, name, node, ips, state, this.#servicesOf(pod)];
      this.#put(key, line.subject, row, false);
    }
  }

  #servicesOf(pod: string): string {
    return cut(this.#served.of(pod), TEXT_BYTES_MAX);
  }

  #startOver(): void {
    this.#served.clear();
    this.#id = randomUUID();
    this.#lines = [];
    this.#current.clear();
    this.#gone = 0;
    this.#last = 0;
    this.#floor = 0;
    this.#wake();
  }

  #put(key: string, subject: string, row: Row, isGone: boolean): void {
    const before = this.#current.get(key);
    if (before?.isGone === true) this.#gone -= 1;
    if (isGone) this.#gone += 1;
    this.#last += 1;
    const line = { sequence: this.#last, key, subject, row, isGone };
    this.#current.set(key, line);
    this.#lines.push(line);
    if (this.#lines.length > 2 * this.#current.size + SLACK) this.#sweep();
    if (this.#gone > 2 * this.#limits.goneMax) this.#forgetGone();
    this.#wake();
  }

  #sweep(): void {
    this.#lines = this.#lines.filter((line) => this.#current.get(line.key) === line);
  }

  /** The eldest half of them. */
  #forgetGone(): void {
    this.#sweep();
    const gone = this.#lines.filter(({ isGone }) => isGone).slice(0, this.#limits.goneMax);
    for (const { key } of gone) this.#current.delete(key);
    this.#gone -= gone.length;
    this.#floor = gone.at(-1)?.sequence ?? this.#floor;
    this.#sweep();
  }

  #wake(): void {
    for (const wake of this.#waiters) wake();
  }

  #indexAfter(sequence: number): number {
    let low = 0;
    let high = this.#lines.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#lines[middle]?.sequence ?? Infinity) <= sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function kindOf({ key: { resource } }: Entry): 'n' | 'p' | undefined {
  if (resource === 'pods') return 'p';
  return resource === 'nodes' ? 'n' : undefined;
}

function rowOf(kind: 'n' | 'p', { key, object }: Entry, services: string): Row {
  const { node = '', ips = [] } = object;
  const addresses = cut(ips.join(' '), TEXT_BYTES_MAX);
  return [kind, key.namespace, key.name, node, addresses, stateOf(kind, object), services];
}

/** Empty where all is well. */
function stateOf(kind: 'n' | 'p', { ready, phase = '', reason = '' }: ObjectMessage): string {
  if (kind === 'n') return ready === false ? 'not ready' : '';
  if (phase === 'Running' && ready === true) return '';
  return cut(reason || (phase === 'Running' ? 'not ready' : phase), TEXT_BYTES_MAX);
}
