// Tells from the last words of etcd whether it ended because of the data in its volume. Only words
// that were seen with damaged files count; whatever else ends a member is no proof. Pure.
import type { Crash } from '../../shared/stateful/pods.ts';

/** The reason why such a member leaves. */
export const REFUSES = 'It refuses its data.';

/** Errors end it with 1, panics with 2; whoever kills it gives other codes. */
const OWN_EXIT_CODES: readonly number[] = [1, 2];

/** Go prints it for a fault of the machine, such as a read of a disk that fails. */
const FAULT = / sp=0x/;

const DAMAGED_LOG = 'its log on the disk is damaged';
const DAMAGED = 'its database is damaged';
/** It has not found others either, to join them. */
export const EMPTY = 'its volume is empty';

/** Seen on etcd 3.5.35, 3.6.16 and 3.7.3; the start of a long text is cut off by the kubelet. */
const WORDS: readonly (readonly [words: RegExp, why: string])[] = [
  [/walpb: crc mismatch/, DAMAGED_LOG],
  // Newer ones write a no-break space.
  [/discovery failed","error":"proto:\s/, DAMAGED_LOG],
  [
    /tocommit\(\d+\) is out of range \[lastIndex\(\d+\)\]/,
    'its log on the disk lacks entries that it had confirmed',
  ],
  [/failed to open database".*"error":"(?:invalid database|version mismatch)/, DAMAGED],
  [/failed to open database".*"error":"(?:checksum error|file size too small)/, DAMAGED],
  [/Page expected to be: \d+, but self identifies as \d+/, DAMAGED],
  [/bbolt\.\(\*Tx\)\.(?:recursivelyCheckBucket|checkBucket)\(/, DAMAGED],
  [/to recover v3 backend from snapshot/, 'its database lacks what its log goes on from'],
  // With a log in its volume it does not look for others.
  [/could not retrieve cluster information from the given URLs/, EMPTY],
  [/member count is unequal/, EMPTY],
];

/** Undefined while it does not, or for all that is known. */
export function refusalIn(crash: Crash | undefined): string | undefined {
  if (crash === undefined || !OWN_EXIT_CODES.includes(crash.exitCode)) return undefined;
  if (FAULT.test(crash.lastWords)) return undefined;
  return WORDS.find(([words]) => words.test(crash.lastWords))?.[1];
}
