// Cuts a stream of gRPC into its messages. One of them is held at a time, and is good until the
// next one is asked for. Pure.

/** A byte that says whether it is compressed, and four for its length. */
const PREFIX_BYTES = 5;
/** etcd sends 32 KiB in a message; one that is longer is not one of its. */
const MESSAGE_BYTES_MAX = 8 * 1024 * 1024;
const FIRST_BYTES = 64 * 1024;

export async function* messagesIn(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  let heldBytes = 0;
  for await (const chunk of body) {
    for (let done = 0; done < chunk.length;) {
      const wanted = heldBytes < PREFIX_BYTES ? PREFIX_BYTES : PREFIX_BYTES + lengthIn(held);
      if (wanted > held.length) held = grown(held, heldBytes, wanted);
      const copied = chunk.copy(held, heldBytes, done, done + wanted - heldBytes);
      heldBytes += copied;
      done += copied;
      if (heldBytes < PREFIX_BYTES || heldBytes < PREFIX_BYTES + lengthIn(held)) continue;
      yield held.subarray(PREFIX_BYTES, heldBytes);
      heldBytes = 0;
    }
  }
  if (heldBytes > 0) throw new Error('it was cut off within a message');
}

function lengthIn(held: Buffer): number {
  if (held[0] !== 0) throw new Error('a message is compressed, and nobody asked for that');
  const length = held.readUInt32BE(1);
  if (length > MESSAGE_BYTES_MAX) throw new Error(`a message of ${length} bytes`);
  return length;
}

function grown(held: Buffer, heldBytes: number, wanted: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(wanted);
  held.copy(larger, 0, 0, heldBytes);
  return larger;
}
