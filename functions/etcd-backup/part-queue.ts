// Cuts a stream into parts of one size and sends a few of them at once, from as many buffers: the
// memory is that of the buffers, whatever the length of the stream.
import { systemClock } from '../../shared/clock.ts';

export interface StreamPart {
  readonly bytes: Buffer;
  /** From 1. */
  readonly number: number;
  readonly offset: number;
}

export class PartQueue {
  readonly #send: (part: StreamPart) => Promise<void>;
  readonly #free: Buffer[];
  readonly #sending = new Set<Promise<void>>();
  readonly #partBytes: number;
  #filled = 0;
  #parts = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(partBytes: number, count: number, send: (part: StreamPart) => Promise<void>) {
    this.#partBytes = partBytes;
    this.#free = Array.from({ length: count }, () => Buffer.allocUnsafeSlow(partBytes));
    this.#send = send;
  }

  /** Resolves when the bytes have a place; rejects when any part before could not be sent. */
  async write(bytes: Buffer): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      const buffer = await this.#buffer();
      const copied = bytes.copy(buffer, this.#filled, done);
      done += copied;
      this.#filled += copied;
      if (this.#filled === this.#partBytes) this.#begin();
    }
  }

  /** Sends what is left, and resolves when all of it is there. */
  async end(): Promise<void> {
    if (this.#filled > 0) this.#begin();
    await this.settled();
    this.#assertNoneFailed();
  }

  /** Until nothing is under way any more, whatever came of it. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#sending);
  }

  async #buffer(): Promise<Buffer> {
    for (;;) {
      this.#assertNoneFailed();
      const [buffer] = this.#free;
      if (buffer !== undefined) return buffer;
      await Promise.race(this.#sending);
    }
  }

  #begin(): void {
    const buffer = this.#free.shift();
    if (buffer === undefined) throw new Error('there is no part to send');
    const offset = this.#parts * this.#partBytes;
    this.#parts += 1;
    const part = { bytes: buffer.subarray(0, this.#filled), number: this.#parts, offset };
    this.#filled = 0;
    const sending = this.#send(part)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#sending.delete(sending);
        this.#free.push(buffer);
      });
    this.#sending.add(sending);
  }

  #assertNoneFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

/** A part that has gone out is better ended by its answer than in the middle. */
const SETTLE_MS = 5_000;

/** Nothing is under way afterwards: a part would come after an abort, and be left. */
export async function settle(
  queue: Pick<PartQueue, 'settled'>,
  stop: AbortController,
): Promise<void> {
  await Promise.race([queue.settled(), systemClock.sleep(SETTLE_MS, stop.signal)]).catch(
    () => undefined,
  );
  stop.abort();
  await queue.settled();
}
