// Which times cannot go together. What is waited for is waited for within one request: one that
// is too short for it begins the wait anew each time, for ever.
interface Times {
  /** How long one request works on before it leaves the rest to the next. */
  readonly workMs: number;
  /** How long API servers have to agree; the last wait may begin with the last of the work. */
  readonly settleMs: number;
}

export function timeConflicts(
  { workMs, settleMs }: Times,
  { deadlineMs }: { readonly deadlineMs: number },
): readonly string[] {
  const settle = `SETTLE_SECONDS is ${settleMs / 1_000}`;
  const work = `WORK_SECONDS ${workMs / 1_000}`;
  const neverSettles =
    `${settle} and ${work}, so that no request has the time to see the API servers agree for so ` +
    'long: set WORK_SECONDS higher than SETTLE_SECONDS';
  const isCut =
    `${settle}, ${work} and REQUEST_DEADLINE_SECONDS ${deadlineMs / 1_000}, so that requests ` +
    'would be given up in the middle of their work: set REQUEST_DEADLINE_SECONDS higher than ' +
    'both together, by what a page takes';
  return [
    ...(settleMs > 0 && settleMs >= workMs ? [neverSettles] : []),
    ...(workMs + settleMs >= deadlineMs ? [isCut] : []),
  ];
}
