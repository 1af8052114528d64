// How long the processors worked for this process, for the children that it has waited for, and
// for theirs. A child that outlives its parent is counted nowhere; tests end what they start.

import { readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second, whatever it runs at (USER_HZ). */
export const TICKS_PER_SECOND = 100;
/** Behind the name, which may hold blanks: utime, stime, cutime, cstime. */
const OWN = 11;
const OF_CHILDREN = 13;
const END = 15;

export const processorSeconds = (): number => secondsFrom(OWN);

/** Without this process. */
export const childrenSeconds = (): number => secondsFrom(OF_CHILDREN);

function secondsFrom(first: number): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(first, END).reduce((sum, field) => sum + Number(field), 0);
  return ticks / TICKS_PER_SECOND;
}
