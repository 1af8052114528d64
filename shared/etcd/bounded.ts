// Reads an answer as text, up to so many bytes.

const FIRST_BYTES = 4 * 1024;

/**
 * Undefined, and no more of it read, when it is longer. The bytes are copied together as they come:
 * pieces of one byte each would take a hundred times their size.
 */
export async function readText(
  body: AsyncIterable<Buffer>,
  sizeBytesMax: number,
): Promise<string | undefined> {
  let held = Buffer.allocUnsafe(Math.min(FIRST_BYTES, sizeBytesMax));
  let sizeBytes = 0;
  for await (const chunk of body) {
    const nowBytes = sizeBytes + chunk.length;
    if (nowBytes > sizeBytesMax) return undefined;
    if (nowBytes > held.length) {
      const larger = Buffer.allocUnsafe(
        Math.min(Math.max(nowBytes, held.length * 2), sizeBytesMax),
      );
      held.copy(larger, 0, 0, sizeBytes);
      held = larger;
    }
    chunk.copy(held, sizeBytes);
    sizeBytes = nowBytes;
  }
  return held.toString('utf8', 0, sizeBytes);
}
