// Checks WORK_SECONDS against the deadline of a request: a request that is cut off in the middle
// writes no status, so nobody would learn why it waits.

export function timeConflicts(
  { workMs }: { readonly workMs: number },
  { deadlineMs }: { readonly deadlineMs: number },
): readonly string[] {
  if (workMs < deadlineMs) return [];
  return [
    `WORK_SECONDS is ${workMs / 1_000} and REQUEST_DEADLINE_SECONDS ${deadlineMs / 1_000}, so ` +
      'that requests would be given up in the middle of their work: set ' +
      'REQUEST_DEADLINE_SECONDS higher, by the time of an observation while servers are silent',
  ];
}
