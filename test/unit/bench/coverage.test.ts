// A change counts as seen when its version or a later one of the same pod was seen, and as late as
// the first of these.
import { expect, test } from 'vitest';
import { countSeen, seenAt } from '../../bench/feed/coverage.ts';

/** Pods 0 to 2 in turn, from turn 9 on. */
const turns = { firstTurn: 9, changes: 6, pods: 3 };

test.each<[string, readonly number[], readonly number[]]>([
  ['each by itself', [9, 1, 10, 2, 11, 3, 12, 4, 13, 5, 14, 6], [1, 2, 3, 4, 5, 6]],
  ['the first of pod 0 with its second', [12, 4, 10, 2], [4, 2, NaN, 4, NaN, NaN]],
  ['a later one does not make an earlier sight later', [9, 1, 12, 4], [1, NaN, NaN, 4, NaN, NaN]],
  ['an old version that comes late', [12, 4, 9, 5], [4, NaN, NaN, 4, NaN, NaN]],
  ['two readers, the slower one first in the list', [9, 7, 9, 2], [2, NaN, NaN, NaN, NaN, NaN]],
  ['turns of another order', [6, 1, 15, 2], [NaN, NaN, NaN, NaN, NaN, NaN]],
])('%s', (_, times, seen) => {
  expect([...seenAt(times, turns)]).toEqual(seen);
  expect(countSeen(seenAt(times, turns))).toBe(seen.filter((one) => !Number.isNaN(one)).length);
});
