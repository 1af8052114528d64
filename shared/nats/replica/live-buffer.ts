// Keeps live messages while a replica catches up: an unbroken run from its first message on. When
// it is full it keeps that run and says so; what came after it must be read from the stream.
import type { LiveMessage } from './source.ts';

export interface BufferLimits {
  readonly messages: number;
  readonly bytes: number;
}

/** Some seconds of a busy cluster's changes; 16 MiB is less than reading them twice would cost. */
const DEFAULT_LIMITS: BufferLimits = { messages: 20_000, bytes: 16 * 1024 * 1024 };

export class LiveBuffer {
  readonly #limits: BufferLimits;
  #messages: LiveMessage[] = [];
  #bytes = 0;
  #isOverfull = false;

  constructor(limits: BufferLimits = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  /** Messages after those in here were dropped. */
  get isOverfull(): boolean {
    return this.#isOverfull;
  }

  push(message: LiveMessage): void {
    const isFull =
      this.#messages.length >= this.#limits.messages || this.#bytes >= this.#limits.bytes;
    this.#isOverfull ||= isFull;
    if (this.#isOverfull) return;
    // The message may be a view on a chunk of the socket, which it would keep in memory.
    this.#messages.push({ ...message, data: message.data.slice() });
    this.#bytes += message.data.byteLength;
  }

  /** All of it; the buffer begins anew. */
  take(): readonly LiveMessage[] {
    const buffered = this.#messages;
    this.#messages = [];
    this.#bytes = 0;
    this.#isOverfull = false;
    return buffered;
  }
}
