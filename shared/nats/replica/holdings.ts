// Applies the messages of a feed to what a replica holds, forward only, and tells what changed by
// it. Synchronous: whoever looks in between messages sees a whole state.
import { isDeepStrictEqual } from 'node:util';
import { fingerprint } from '../../feed/digest.ts';
import { type Tombstone, decodeMessage, isTombstone } from '../../feed/messages.ts';
import { parseSubject } from '../../feed/subjects.ts';
import type { Catalog } from './catalog.ts';
import type { Change } from './changes.ts';
import type { Entry } from './entry.ts';
import type { Ledgers } from './ledgers.ts';
import type { StoredMessage } from './page.ts';

export interface HoldingsOptions {
  readonly catalog: Catalog;
  readonly ledgers: Ledgers;
  /** In which ledger a subject counts. */
  readonly ledgerOf: (subject: string) => string;
  readonly emit: (change: Change) => void;
}

export class Holdings {
  readonly #options: HoldingsOptions;
  readonly #catalog: Catalog;
  /** Held as of a version of another stream: every message of this one is newer. */
  readonly #stale = new Set<string>();
  /** Sequences of removals, as long as an older message may still arrive. */
  readonly #removed = new Map<string, number>();
  /** Held, and not yet met in the snapshot that is being read. */
  #missing: Set<string> | undefined;
  #foreign = 0;

  constructor(options: HoldingsOptions) {
    this.#options = options;
    this.#catalog = options.catalog;
  }

  /** How many messages were none of the feed's. */
  get foreign(): number {
    return this.#foreign;
  }

  sawForeign(): void {
    this.#foreign += 1;
  }

  /** The sequence that the subject is held at in this stream, as far as that is known. */
  versionOf(subject: string): number | undefined {
    if (this.#stale.has(subject)) return undefined;
    return this.#catalog.entry(subject)?.version ?? this.#removed.get(subject);
  }

  /** Restores the content of an earlier process. */
  restore(entry: Entry): void {
    this.#catalog.put(entry);
    this.#count(entry);
  }

  /** Messages from here on belong to another stream: sequences so far say nothing about them. */
  startOver(): void {
    this.#options.ledgers.startOver();
    this.forgetSequences();
  }

  /** Whatever the snapshot has is right, also where its sequence is lower than what is held. */
  forgetSequences(): void {
    this.#removed.clear();
    this.#options.ledgers.forgetSequences();
    for (const { subject } of this.#catalog.entries()) this.#stale.add(subject);
  }

  /** All that the feed holds will be applied until `finishSnapshot`, in any order. */
  startSnapshot(): void {
    this.#missing = new Set();
    for (const { subject } of this.#catalog.entries()) this.#missing.add(subject);
  }

  /** Removes objects that the snapshot did not contain: they and their tombstones are gone. */
  finishSnapshot(version: number): void {
    for (const subject of this.#missing ?? []) this.#drop(subject, version, undefined);
    this.#missing = undefined;
  }

  /** Nothing older than what was applied can arrive any more. */
  settle(): void {
    this.#removed.clear();
  }

  apply({ subject, sequence, data }: StoredMessage): void {
    const place = parseSubject(subject);
    const message = place === undefined ? undefined : decodeMessage(data);
    if (place === undefined || message === undefined) {
      this.sawForeign();
      return;
    }
    this.#missing?.delete(subject);
    if (sequence <= (this.versionOf(subject) ?? 0)) return;
    this.#options.ledgers.touch(this.#options.ledgerOf(subject), sequence);
    if (isTombstone(message)) {
      this.#removed.set(subject, sequence);
      this.#drop(subject, sequence, message);
      return;
    }
    const sum = fingerprint(subject, data);
    this.#put({ subject, version: sequence, fingerprint: sum, ...place, object: message });
  }

  #put(entry: Entry): void {
    const { subject, version } = entry;
    this.#stale.delete(subject);
    this.#removed.delete(subject);
    const isNew = this.#catalog.entry(subject) === undefined;
    const previous = this.#catalog.put(isNew ? { ...entry, subject: ownText(subject) } : entry);
    if (previous !== undefined) this.#discount(previous);
    this.#count(entry);
    // The catalog may hold it in a form that shares what it can.
    const held = this.#catalog.entry(subject) ?? entry;
    if (previous === undefined) this.#options.emit({ type: 'added', version, entry: held });
    else if (!isSame(previous, held)) {
      this.#options.emit({ type: 'changed', version, entry: held, previous });
    }
  }

  #drop(subject: string, version: number, tombstone: Tombstone | undefined): void {
    this.#stale.delete(subject);
    const entry = this.#catalog.drop(subject, tombstone);
    if (entry === undefined) return;
    this.#discount(entry);
    const moved = tombstone?.moved === true ? ({ moved: true } as const) : {};
    this.#options.emit({ type: 'removed', version, entry, ...moved });
  }

  #count({ subject, fingerprint: sum }: Entry): void {
    this.#options.ledgers.add(this.#options.ledgerOf(subject), sum);
  }

  #discount({ subject, fingerprint: sum }: Entry): void {
    this.#options.ledgers.remove(this.#options.ledgerOf(subject), sum);
  }
}

/** A part of a longer text keeps all of that in memory; this is the part alone. */
const ownText = (ascii: string): string => Buffer.from(ascii, 'latin1').toString('latin1');

/** A feed that starts over writes everything anew; readers are told only what differs. */
function isSame(a: Entry, b: Entry): boolean {
  const isSum =
    a.fingerprint.high === b.fingerprint.high && a.fingerprint.low === b.fingerprint.low;
  if (isSum || a.object.epoch === b.object.epoch) return isSum;
  return isDeepStrictEqual({ ...a.object, epoch: 0 }, { ...b.object, epoch: 0 });
}
