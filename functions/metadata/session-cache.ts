// What this instance knows to stand on a few thousand subjects, because it was the last to write or
// read them: an object that changes often need not be read before each change. It may be wrong as
// soon as somebody else writes; the compare-and-set finds out, and whoever decided to do nothing
// reads before he believes it.
import { compareVersions, type Published } from './decide.ts';

/** Some 4,000 pods of the usual size, in 10 MB of heap, whatever the size of the cluster. */
const BYTES_MAX = 4_000_000;
/** Of each entry, whatever stands there. */
const ENTRY_BYTES = 400;
/** What is larger is rare, and read before each change; else a few would drive out the many. */
const MESSAGE_BYTES_MAX = 20_000;

export class PublishedCache {
  /** In the order of their last use; undefined for a subject on which nothing stands. */
  readonly #known = new Map<string, Published | undefined>();
  #bytes = 0;

  /** Undefined unless all of them are known. */
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
  /** By resource. */
  readonly #asOf = new Map<string, string>();

  /** Undefined when none was found in this epoch: versions of another one compare with nothing. */
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
