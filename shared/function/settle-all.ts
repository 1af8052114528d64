// Waits for several works at once.

/** Waits for all, so that one failure hides and stops no other work. Throws the first failure. */
export async function settleAll(works: readonly Promise<void>[]): Promise<void> {
  const settled = await Promise.allSettled(works);
  const failed = settled.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
