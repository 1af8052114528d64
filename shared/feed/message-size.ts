// The largest size of a message. A message that does not fit is refused as a whole and never cut:
// half an object would be a wrong answer.

/**
 * NATS counts headers with the message. Ours are the condition and its subject, the lifetime and
 * the place in a batch. The subject may hold three names of 253 characters, each three times as
 * long when all of it must be encoded, which no API server allows; with names that one does allow
 * all headers stay below half of this.
 */
const HEADER_BYTES_MAX = 4_096;

/** `maxPayloadBytes` is what the NATS server says it takes, 1 MiB unless it was told otherwise. */
export function fits(data: Uint8Array, maxPayloadBytes: number): boolean {
  return data.byteLength + HEADER_BYTES_MAX <= maxPayloadBytes;
}
