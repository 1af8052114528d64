// Answers that wait for whoever asked to read them: bounded in bytes together. Where there is no
// room the eldest makes it, and its connection ends: who reads at all has read it by then.
import type { ServerResponse } from 'node:http';

type Unread = Pick<ServerResponse, 'once' | 'destroy'>;

export class Outbox {
  readonly #bytesMax: number;
  /** In the order in which they were given. */
  readonly #unread = new Map<Unread, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** To be told of each answer before it is written. One alone may be of any size. */
  note(response: Unread, sizeBytes: number): void {
    response.once('finish', () => this.#drop(response)).once('close', () => this.#drop(response));
    this.#unread.set(response, sizeBytes);
    this.#bytes += sizeBytes;
    for (const eldest of this.#unread.keys()) {
      if (this.#bytes <= this.#bytesMax || eldest === response) return;
      this.#drop(eldest);
      eldest.destroy();
    }
  }

  #drop(response: Unread): void {
    this.#bytes -= this.#unread.get(response) ?? 0;
    this.#unread.delete(response);
  }
}
