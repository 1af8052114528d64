// How long the processors worked for this process, for the children that it has waited for, and
// for theirs. A child that outlives its parent is counted nowhere; tests end what they start.

import { readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second, whatever it runs at (USER_HZ). */
export const TICKS_PER_SECOND = 100;
/** Behind the name, which may hold blanks: utime, stime, cutime, cstime. */
const FIRST = 11;

export function processorSeconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(FIRST, FIRST + 4).reduce((sum, field) => sum + Number(field), 0);
  return ticks / TICKS_PER_SECOND;
}
