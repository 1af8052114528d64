// Follows what a part prints, as far as its last lines still hold it.
import type { Part } from '../process/part.ts';

/** As many as a part keeps. */
const LINES = 200;

export class Tail {
  #seen: readonly string[] = [];

  /** The lines that came since the last look. */
  linesOf(part: Part): readonly string[] {
    const now = part.lastLines(LINES);
    const fresh = newLines(this.#seen, now);
    this.#seen = now;
    return fresh;
  }
}

/** Lines are lost at the front and added at the end; a part that started anew has none. */
export function newLines(before: readonly string[], now: readonly string[]): readonly string[] {
  const lost = before.findIndex((_, index) =>
    before.slice(index).every((line, offset) => line === now[offset]),
  );
  return lost < 0 ? now : now.slice(before.length - lost);
}
