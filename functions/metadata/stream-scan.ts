// Scans the whole stream once, and adds up what each ledger holds, the checkpoints that stand in
// it, the objects of each resource, and messages that are not the feed's or that nobody can read.
// It holds sums and never the objects.
import {
  type Checkpoint,
  type ObjectMessage,
  decodeCheckpoint,
  decodeMessage,
  isTombstone,
} from '../../shared/feed/messages.ts';
import { Digest, fingerprint } from '../../shared/feed/digest.ts';
import {
  isOfFeed,
  ledgerOfCheckpoint,
  ledgersOf,
  parseSubject,
} from '../../shared/feed/subjects.ts';
import type { Clock } from '../../shared/clock.ts';
import type { StoredMessage } from '../../shared/nats/jetstream.ts';
import { readThrough } from '../../shared/nats/read-through.ts';
import { type Entry, FingerprintTable } from './fingerprint-table.ts';
import { LastScan, type ScanMoment } from './last-scan.ts';
import { SLICES } from './observation.ts';
import { publishedFrom } from './observe.ts';
import type { Session } from './session.ts';

export interface LedgerSum {
  readonly digest: Digest;
  /** The newest sequence of the ledger's objects, tombstones included. */
  lastSequence: number;
  /** The checkpoint in the stream; undefined when there is none that can be read. */
  checkpoint: Checkpoint | undefined;
  /** The sequence of the message on the checkpoint's subject, even if it cannot be read. */
  checkpointSequence: number;
}

/** A message on a subject that the feed does not have, or one that says nothing. */
export interface ForeignMessage {
  readonly subject: string;
  readonly sequence: number;
}

/** Only this function is meant to write, so these are few. The next sweep sees the rest. */
const FOREIGN_MAX = 500;

export class StreamSums {
  readonly ledgers = new Map<string, LedgerSum>();
  /** Objects shown, by resource. An endpoint slice counts once, by its head. */
  readonly objects = new Map<string, number>();
  readonly foreign: ForeignMessage[] = [];
  /**
   * Parts of endpoint slices, less those that their heads name. Not 0 means that parts are missing
   * or stray.
   */
  strayParts = 0;
  readonly #prefix: string;
  readonly #before: LastScan | undefined;
  readonly #marks = new FingerprintTable();
  /** Messages shown, by resource: of an endpoint slice its head and its parts. */
  readonly #messages = new Map<string, number>();

  constructor(prefix: string, before?: LastScan) {
    this.#prefix = prefix;
    this.#before = before;
  }

  /** For the next scan. Nothing may be added afterwards: the fingerprints are handed over. */
  asLastScan(moment: ScanMoment): LastScan {
    return new LastScan(moment, this.#marks, this.#messages);
  }

  add(stored: StoredMessage): void {
    const published = publishedFrom(this.#prefix, stored);
    const { subject, sequence, message } = published;
    const place = parseSubject(subject);
    if (place === undefined) return this.#takeOther(subject, stored);
    // An empty one would end the pages of all readers before it.
    if (message === undefined) this.#takeForeign(subject, sequence);
    const isShown = message !== undefined && !isTombstone(message);
    const mark = isShown ? entryOf(subject, stored, message) : undefined;
    this.#before?.meet(published, place.key.resource, mark);
    const before = this.#marks.swap(subject, mark);
    for (const ledger of ledgersOf(subject)) {
      const sum = this.#ledger(ledger);
      sum.lastSequence = sequence;
      if (before !== undefined) sum.digest.remove(before);
      if (mark !== undefined) sum.digest.add(mark);
    }
    const isPart = typeof place.place === 'object';
    if (before !== undefined) this.#count(place.key.resource, isPart, before, -1);
    if (mark !== undefined) this.#count(place.key.resource, isPart, mark, 1);
  }

  #count(resource: string, isPart: boolean, { nodes }: Entry, by: 1 | -1): void {
    const isSlice = resource === SLICES;
    this.#messages.set(resource, (this.#messages.get(resource) ?? 0) + by);
    // Each part adds 1, and each head subtracts the parts that it names.
    if (isSlice) this.strayParts += by * (isPart ? 1 : -nodes);
    if (!isSlice || !isPart) this.objects.set(resource, (this.objects.get(resource) ?? 0) + by);
  }

  #takeOther(subject: string, { sequence, data }: StoredMessage): void {
    const name = ledgerOfCheckpoint(subject);
    if (name !== undefined) {
      const ledger = this.#ledger(name);
      ledger.checkpoint = decodeCheckpoint(data);
      ledger.checkpointSequence = sequence;
      return;
    }
    const message = decodeMessage(data);
    const isRemoved = message !== undefined && isTombstone(message);
    if (!isOfFeed(subject) && !isRemoved) this.#takeForeign(subject, sequence);
  }

  #takeForeign(subject: string, sequence: number): void {
    if (this.foreign.length < FOREIGN_MAX) this.foreign.push({ subject, sequence });
  }

  #ledger(name: string): LedgerSum {
    const known = this.ledgers.get(name);
    if (known !== undefined) return known;
    const made: LedgerSum = {
      digest: new Digest(),
      lastSequence: 0,
      checkpoint: undefined,
      checkpointSequence: 0,
    };
    this.ledgers.set(name, made);
    return made;
  }
}

const entryOf = (subject: string, { data }: StoredMessage, { nodes }: ObjectMessage): Entry => ({
  ...fingerprint(subject, data),
  nodes: nodes?.length ?? 0,
});

export interface StreamScan {
  /**
   * The sums hold for the stream as of this version, whatever was written since. Undefined when the
   * servers of the stream did not agree in time on its end.
   */
  readonly version: number | undefined;
  readonly sums: StreamSums;
  /** From this version on all tombstones are still there, as far as the time asked for tells. */
  readonly floor: number;
}

export async function scanStream(
  { feed: { prefix }, stream }: Session,
  { floorMs, before }: { readonly floorMs: number; readonly before?: LastScan | undefined },
  clock: Clock,
  signal: AbortSignal,
): Promise<StreamScan> {
  const sums = new StreamSums(prefix, before);
  let floor: number | undefined;
  let last = 0;
  const take = (stored: StoredMessage): void => {
    last = stored.sequence;
    // Everything that was written since the time asked for is at or after this message.
    if (floor === undefined && Date.parse(stored.time) >= floorMs) floor = stored.sequence - 1;
    sums.add(stored);
  };
  const version = await readThrough(stream, `${prefix}.>`, take, { clock, signal });
  return { version, sums, floor: floor ?? version ?? last };
}
