// Many small calls side by side, but not all at once.

/** Enough to hide the round trip; NATS takes 50 open batches per stream. */
const IN_FLIGHT_MAX = 40;

/** Ends with the first failure, and early, between items, on abort. */
export async function forEachLimited<Item>(
  items: Iterable<Item>,
  signal: AbortSignal,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = Iterator.from(items);
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      signal.throwIfAborted();
      // Whoever waits has been told of the failure; nothing may go on behind his back.
      if (hasFailed) return;
      try {
        await work(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT_MAX }, worker));
}
