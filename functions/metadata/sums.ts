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
import type { StoredMessage } from '../../shared/nats/jetstream.ts';
import { type Mark, Marks } from './marks.ts';
import { publishedFrom } from './observe.ts';
import { SLICES } from './sight.ts';

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
export interface Stranger {
  readonly subject: string;
  readonly sequence: number;
}

/** Nobody but the function is meant to write; the next sweep sees what is left. */
const STRANGERS_MAX = 500;

export class Sums {
  readonly ledgers = new Map<string, LedgerSum>();
  /** Objects shown, by resource; an endpoint slice counts once, and its parts alone not at all. */
  readonly objects = new Map<string, number>();
  readonly strangers: Stranger[] = [];
  /** Parts of endpoint slices that stand, less those that their heads name. */
  strayParts = 0;
  readonly #prefix: string;
  readonly #marks = new Marks();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  take(stored: StoredMessage): void {
    const { subject, sequence, message } = publishedFrom(this.#prefix, stored);
    const place = parseSubject(subject);
    if (place === undefined) return this.#takeOther(subject, stored);
    const isShown = message !== undefined && !isTombstone(message);
    const mark = isShown ? markOf(subject, stored, message) : undefined;
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

  #count(resource: string, isPart: boolean, { nodes }: Mark, by: 1 | -1): void {
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
    const isExpelled = message !== undefined && isTombstone(message);
    if (isOfFeed(subject) || isExpelled || this.strangers.length >= STRANGERS_MAX) return;
    this.strangers.push({ subject, sequence });
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

const markOf = (subject: string, { data }: StoredMessage, { nodes }: ObjectMessage): Mark => ({
  ...fingerprint(subject, data),
  nodes: nodes?.length ?? 0,
});
