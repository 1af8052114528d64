// For work that several wait for: each is let go by his own signal, and the work goes on.

/** As `work`, or rejects with the signal's reason as soon as it aborts. */
export function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const settled = (): void => signal.removeEventListener('abort', onAbort);
    work.then(resolve, reject).finally(settled);
  });
}
