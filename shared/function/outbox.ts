// Answers that wait for whoever asked to read them: bounded in bytes together. Where there is no
// room the eldest makes it, and its connection ends: who reads at all has read it by then.
import type { ServerResponse } from 'node:http';

type Unread = Pick<ServerResponse, 'once' | 'destroy'>;

export class Outbox {
  readonly #bytesMax: number;
  /** In the order in which they were given. */
  readonly #unread = new Map<Unread, number>();
  #unreadBytes = 0;
  /** Their bytes are in memory until their connections are closed, and that is later. */
  readonly #ending = new Map<Unread, number>();
  #endingBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** To be told of each answer before it is written. One alone may be of any size. */
  note(response: Unread, sizeBytes: number): void {
    response.once('finish', () => this.#drop(response)).once('close', () => this.#drop(response));
    this.#unread.set(response, sizeBytes);
    this.#unreadBytes += sizeBytes;
    for (const [eldest, eldestBytes] of this.#unread) {
      if (this.#unreadBytes <= this.#bytesMax || eldest === response) return;
      this.#drop(eldest);
      this.#ending.set(eldest, eldestBytes);
      this.#endingBytes += eldestBytes;
      eldest.destroy();
    }
  }

  /**
   * To be awaited before the work on an answer. Hundreds of requests may come in one turn of the
   * event loop, and no connection closes within it.
   */
  async room(): Promise<void> {
    while (this.#endingBytes > this.#bytesMax) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #drop(response: Unread): void {
    this.#unreadBytes -= this.#unread.get(response) ?? 0;
    this.#unread.delete(response);
    this.#endingBytes -= this.#ending.get(response) ?? 0;
    this.#ending.delete(response);
  }
}
