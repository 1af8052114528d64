// Which of the writer's changes somebody has seen, and when: each when its version or a later one
// of the same pod was seen. Changes that follow each other closely may be shown together, by a feed
// as by a watch that lists again, and whoever sees the last of them has seen them all.

export interface Turns {
  readonly firstTurn: number;
  readonly changes: number;
  /** The writer takes one after the other, so that turns of one pod are so many apart. */
  readonly pods: number;
}

/** When each turn was seen first; NaN where it was not. `times` holds turn, time, turn, time... */
export function seenAt(
  times: ArrayLike<number>,
  { firstTurn, changes, pods }: Turns,
): Float64Array<ArrayBuffer> {
  const seen = new Float64Array(changes).fill(Number.NaN);
  for (let at = 0; at + 1 < times.length; at += 2) {
    const [turn = Number.NaN, atMs = Number.NaN] = [times[at], times[at + 1]];
    for (let index = turn - firstTurn; index >= 0 && index < changes; index -= pods) {
      const before = seen[index] ?? Number.NaN;
      // A change was seen when a later one was.
      if (before <= atMs) break;
      seen[index] = atMs;
    }
  }
  return seen;
}

export const countSeen = (seen: Float64Array): number =>
  seen.reduce((sum, atMs) => sum + (Number.isNaN(atMs) ? 0 : 1), 0);
