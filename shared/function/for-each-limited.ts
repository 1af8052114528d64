// Runs many small calls concurrently, up to a limit.

/** Enough to hide the round trip. NATS allows 50 open batches for each stream. */
const IN_FLIGHT_MAX = 40;

/** Throws the first failure. Stops between items on a failure or an abort. */
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
      // The caller has received the failure; nothing may continue unseen.
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
