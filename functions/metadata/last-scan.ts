// The stream as the last sweep of this instance read it, as fingerprints by subject. A message of
// that time stands on, or a later one replaced it. Anything else changed behind our back: a
// nats-server that is killed brings back messages whose tombstones have expired, and a person may
// purge a subject.
import type { Published } from './decide.ts';
import type { Entry, FingerprintTable } from './fingerprint-table.ts';

/** The time that a scan takes, and the difference of clocks. */
const SLACK_MS = 60_000;
/** Messages kept until their resource is listed anew. The next sweeps find the rest. */
const CAME_BACK_BYTES_MAX = 4 * 1_048_576;
/** An entry costs so much beside its own bytes. */
const ENTRY_BYTES = 300;

export interface SweepMoment {
  readonly epoch: number;
  readonly streamId: string;
  /** When the sweep began. */
  readonly nowMs: number;
}

export interface ScanMoment extends SweepMoment {
  /** The scan read the stream as of this version. */
  readonly version: number;
}

export class LastScan {
  readonly #moment: ScanMoment;
  /** Fingerprints of messages that the next scan has not met yet. */
  readonly #table: FingerprintTable;
  /** How many these are, by resource. */
  readonly #left: Map<string, number>;
  readonly #changed = new Set<string>();
  readonly #cameBack = new Map<string, Published[]>();
  #keptBytes = 0;

  constructor(moment: ScanMoment, table: FingerprintTable, counts: ReadonlyMap<string, number>) {
    this.#moment = moment;
    this.#table = table;
    this.#left = new Map(counts);
  }

  /**
   * False when the stream is another one by now, or a tombstone may have expired that replaced one
   * of these messages: it would come back and look as if it had never gone.
   */
  holds({ epoch, streamId, nowMs }: SweepMoment, tombstoneSeconds: number): boolean {
    const { epoch: itsEpoch, streamId: itsId, nowMs: thenMs } = this.#moment;
    const isYoung = nowMs - thenMs < tombstoneSeconds * 1_000 - SLACK_MS;
    return isYoung && epoch === itsEpoch && streamId === itsId;
  }

  /** Takes each message of the next scan, in its order; a tombstone has no entry. */
  meet(published: Published, resource: string, entry: Entry | undefined): void {
    const { subject, sequence } = published;
    const before = this.#table.swap(subject, undefined);
    if (before !== undefined) this.#left.set(resource, (this.#left.get(resource) ?? 0) - 1);
    // Stored since: history or a read of the object confirms it.
    if (sequence > this.#moment.version) return;
    if (before?.high === entry?.high && before?.low === entry?.low) return;
    this.#changed.add(resource);
    if (before === undefined) this.#keep(resource, published);
  }

  #keep(resource: string, published: Published): void {
    const bytes = ENTRY_BYTES + published.subject.length + published.bytes;
    if (this.#keptBytes + bytes > CAME_BACK_BYTES_MAX) return;
    this.#keptBytes += bytes;
    const known = this.#cameBack.get(resource);
    if (known === undefined) this.#cameBack.set(resource, [published]);
    else known.push(published);
  }

  /** Messages of a resource that nothing stood for. */
  cameBack(resource: string): readonly Published[] {
    return this.#cameBack.get(resource) ?? [];
  }

  /** Resources with a message that came back, went, or is another one than it was. */
  get changed(): ReadonlySet<string> {
    const gone = [...this.#left].filter(([, count]) => count > 0).map(([resource]) => resource);
    return new Set([...this.#changed, ...gone]);
  }
}
