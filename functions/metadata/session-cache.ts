// Two caches of a session; both may be lost. PublishedCache holds the messages of a few thousand
// subjects that this instance wrote or read last, so that an object that changes often is not read
// before each change. An entry is wrong as soon as another instance writes: compare-and-set finds
// that out, and a decision to do nothing reads first. LatestAbsences holds the version at which
// objects of a resource were last found absent.
import { compareVersions, type Published } from './decide.ts';

/** About 4,000 pods of the usual size, in 10 MB of heap, whatever the size of the cluster. */
const BYTES_MAX = 4_000_000;
/** The cost of each entry beside its message. */
const ENTRY_BYTES = 400;
/**
 * Larger messages are rare and are read before each change. A few of them would drive out many
 * others.
 */
const MESSAGE_BYTES_MAX = 20_000;

export class PublishedCache {
  /** In the order of last use; undefined for a subject without a message. */
  readonly #known = new Map<string, Published | undefined>();
  #bytes = 0;

  /** Undefined unless the cache knows all of the subjects. */
  find(subjects: readonly string[]): readonly Published[] | undefined {
    if (!subjects.every((subject) => this.#known.has(subject))) return undefined;
    return subjects.flatMap((subject) => {
      const entry = this.#known.get(subject);
      this.note(subject, entry);
      return entry ?? [];
    });
  }

  note(subject: string, entry: Published | undefined): void {
    this.#drop(subject);
    if (entry !== undefined && entry.bytes > MESSAGE_BYTES_MAX) return;
    this.#known.set(subject, entry);
    this.#bytes += weightOf(subject, entry);
    for (const oldest of this.#known.keys()) {
      if (this.#bytes <= BYTES_MAX) return;
      this.#drop(oldest);
    }
  }

  clear(): void {
    this.#known.clear();
    this.#bytes = 0;
  }

  #drop(subject: string): void {
    if (!this.#known.has(subject)) return;
    this.#bytes -= weightOf(subject, this.#known.get(subject));
    this.#known.delete(subject);
  }
}

const weightOf = (subject: string, entry: Published | undefined): number =>
  ENTRY_BYTES + subject.length + (entry?.bytes ?? 0);

export class LatestAbsences {
  #epoch = 0;
  /**
   * By resource. The absence of an object that had no message leaves nothing in the stream: a
   * tombstone for every name that an event makes up would be a flood. So nothing there would reject
   * an answer from before the absence, which a lagging API server may still give.
   */
  readonly #asOf = new Map<string, string>();

  /** Undefined when none was found in this epoch: versions of another epoch cannot be compared. */
  latest(epoch: number, resource: string): string | undefined {
    return epoch === this.#epoch ? this.#asOf.get(resource) : undefined;
  }

  note(epoch: number, resource: string, asOf: string): void {
    if (epoch !== this.#epoch) this.#asOf.clear();
    this.#epoch = epoch;
    const known = this.#asOf.get(resource);
    if (known === undefined || compareVersions(asOf, known) > 0) this.#asOf.set(resource, asOf);
  }
}
