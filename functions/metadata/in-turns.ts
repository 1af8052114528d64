// Many small calls side by side, but not all at once.

/** Enough to hide the round trip; NATS takes 50 open batches per stream. */
const IN_FLIGHT_MAX = 40;

/** Ends with the first failure, and early, between items, on abort. */
export async function inTurns<Item>(
  items: Iterable<Item>,
  signal: AbortSignal,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = Iterator.from(items);
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      signal.throwIfAborted();
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT_MAX }, worker));
}
