// In which order rungs are begun, and test files within one.

import { type Recorded, readRecorded } from './recorded.ts';
import type { Rung } from './rungs.ts';

/**
 * Checks come first, for what they find ends most climbs. Then comes the rung with most to wait
 * for: its own time, and that of the rungs that need it.
 */
export function inOrder(chosen: readonly Rung[], { rungs }: Recorded = readRecorded()): Rung[] {
  const seconds = (rung: Rung): number =>
    // Nobody knows how long a new rung of tests takes.
    (rungs[rung.name] ?? (rung.counts === 'tests' ? 3_600 : 0)) +
    Math.max(0, ...chosen.filter(({ needs }) => needs.includes(rung.name)).map(seconds));
  const isTests = ({ counts }: Rung): number => (counts === 'tests' ? 1 : 0);
  return chosen.toSorted(
    (one, other) => isTests(one) - isTests(other) || seconds(other) - seconds(one),
  );
}
