// What this instance knows to stand on a few thousand subjects, because it was the last to write or
// read them: an object that changes often need not be read before each change. It may be wrong as
// soon as somebody else writes; the compare-and-set finds out, and whoever decided to do nothing
// reads before he believes it.
import type { Published } from './decide.ts';

/** With some 600 bytes each, a few megabytes, whatever the size of the cluster. */
const SUBJECTS_MAX = 4_000;

export class Recent {
  /** In the order of their last use; undefined for a subject on which nothing stands. */
  readonly #known = new Map<string, Published | undefined>();

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
    this.#known.delete(subject);
    this.#known.set(subject, entry);
    if (this.#known.size <= SUBJECTS_MAX) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  clear(): void {
    this.#known.clear();
  }
}
