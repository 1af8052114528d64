// Watches over one reader's shoulder: no object may ever go back. Kept across the reader's own
// deaths, because its agent remembers too.
import type { Change } from '../../shared/nats/replica/changes.ts';
import type { Entry } from '../../shared/nats/replica/entry.ts';

type Sighting = Pick<Entry, 'subject' | 'version' | 'object'>;

interface Seen {
  readonly epoch: number;
  /** A stream sequence, or a resourceVersion. */
  readonly at: number;
}

/** The first few tell the story. */
const KEPT = 20;

export class Observer {
  violations: string[] = [];
  seen = 0;
  readonly #reader: string;
  readonly #isSlandered: (name: string) => boolean;
  #sequences = new Map<string, Seen>();
  #revisions = new Map<string, Seen>();

  constructor(reader: string, isSlandered: (name: string) => boolean) {
    this.#reader = reader;
    this.#isSlandered = isSlandered;
  }

  /** Forgets forged messages: from here on revisions are to be believed again. */
  startOver(): void {
    this.violations = [];
    this.#sequences = new Map();
    this.#revisions = new Map();
  }

  note(change: Change): void {
    this.seen += 1;
    if (change.type === 'resync' || change.type === 'removed') return;
    this.#look(change.entry);
  }

  /** The same of a reader of another kind. */
  saw(sighting: Sighting): void {
    this.seen += 1;
    this.#look(sighting);
  }

  #look({ subject, version, object }: Sighting): void {
    const { epoch, kind, namespace = '', name, uid, resourceVersion } = object;
    this.#check(this.#sequences, subject, { epoch, at: version }, 'sequence');
    if (this.#isSlandered(`${kind} ${namespace}/${name}`)) return;
    const identity = kind === 'EndpointSlice' ? `${uid} ${subject}` : uid;
    const revision = { epoch, at: Number(resourceVersion) };
    this.#check(
      this.#revisions,
      identity,
      revision,
      `resourceVersion of ${kind} ${namespace}/${name}`,
    );
  }

  #check(known: Map<string, Seen>, key: string, now: Seen, kind: string): void {
    const before = known.get(key);
    known.set(key, now);
    if (before === undefined) return;
    const isBack = now.epoch === before.epoch ? now.at < before.at : now.epoch < before.epoch;
    if (!isBack || this.violations.length >= KEPT) return;
    const step = `epoch ${before.epoch}, ${before.at} -> epoch ${now.epoch}, ${now.at}`;
    this.violations.push(`${this.#reader} saw ${key} go back: ${kind}: ${step}`);
  }
}
