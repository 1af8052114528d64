// Adds up a stream as it is read: what each ledger holds and says, how many objects of each
// resource stand, and what is none of the feed's. Holds sums, never the objects.
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
import { SLICES } from './observation.ts';
import { publishedFrom } from './observe.ts';
import type { Session } from './session.ts';

export interface LedgerSum {
  readonly digest: Digest;
  /** The newest sequence of its objects, tombstones included. */
  lastSequence: number;
  /** As it stands in the stream. */
  checkpoint: Checkpoint | undefined;
  /** Of whatever stands in its place, if it can be read or not. */
  checkpointSequence: number;
}

/** On a subject that the feed does not have. */
export interface ForeignMessage {
  readonly subject: string;
  readonly sequence: number;
}

/** Nobody but the function is meant to write; the next sweep sees what is left. */
const FOREIGN_MAX = 500;

export class StreamSums {
  readonly ledgers = new Map<string, LedgerSum>();
  /** Objects shown, by resource; an endpoint slice counts once, and its parts alone not at all. */
  readonly objects = new Map<string, number>();
  readonly foreign: ForeignMessage[] = [];
  /** Parts of endpoint slices that stand, less those that their heads name. */
  strayParts = 0;
  readonly #prefix: string;
  readonly #marks = new FingerprintTable();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  add(stored: StoredMessage): void {
    const { subject, sequence, message } = publishedFrom(this.#prefix, stored);
    const place = parseSubject(subject);
    if (place === undefined) return this.#takeOther(subject, stored);
    const isShown = message !== undefined && !isTombstone(message);
    const mark = isShown ? entryOf(subject, stored, message) : undefined;
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
    // A part counts for itself, and its head against it.
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
    if (isOfFeed(subject) || isRemoved || this.foreign.length >= FOREIGN_MAX) return;
    this.foreign.push({ subject, sequence });
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
   * The sums are those of the stream as it was at this version, whatever came since. Undefined
   * when its servers did not agree in time on what it is.
   */
  readonly version: number | undefined;
  readonly sums: StreamSums;
  /** From here on nothing that was deleted is forgotten, as far as the time asked for tells. */
  readonly floor: number;
}

export async function scanStream(
  { feed: { prefix }, stream }: Session,
  floorMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<StreamScan> {
  const sums = new StreamSums(prefix);
  let floor: number | undefined;
  let last = 0;
  const take = (stored: StoredMessage): void => {
    last = stored.sequence;
    // Whatever was written before it and since the time asked for would stand here as well.
    if (floor === undefined && Date.parse(stored.time) >= floorMs) floor = stored.sequence - 1;
    sums.add(stored);
  };
  const version = await readThrough(stream, `${prefix}.>`, take, { clock, signal });
  return { version, sums, floor: floor ?? version ?? last };
}
