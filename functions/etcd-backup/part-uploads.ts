// Parts that wait to be uploaded, from where they lie on the disk: a few of them go out at once.
import { settle } from './part-queue.ts';

export interface Uploading<Part> {
  readonly atOnce: number;
  readonly upload: (part: Part, signal: AbortSignal) => Promise<void>;
}

export class PartUploads<Part> {
  readonly #uploading: Uploading<Part>;
  readonly #stop = new AbortController();
  readonly #waiting: Part[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(uploading: Uploading<Part>) {
    this.#uploading = uploading;
  }

  add(part: Part): void {
    this.#waiting.push(part);
    this.#beginNext();
  }

  assertNoneFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Until all are there, or one has failed. */
  async end(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#giveUp(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    try {
      signal.throwIfAborted();
      while (this.#underWay.size > 0) {
        await Promise.race(this.#underWay);
        this.assertNoneFailed();
      }
      this.assertNoneFailed();
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Nothing is under way afterwards: a part would come after an abort, and be left. */
  async settle(): Promise<void> {
    this.#waiting.length = 0;
    await settle({ settled: () => this.#settled() }, this.#stop);
  }

  async #settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  #giveUp(error: unknown): void {
    this.#failure ??= { error };
    this.#waiting.length = 0;
    this.#stop.abort(error);
  }

  #beginNext(): void {
    const { atOnce, upload } = this.#uploading;
    if (this.#failure !== undefined || this.#underWay.size === atOnce) return;
    const part = this.#waiting.shift();
    if (part === undefined) return;
    const under = upload(part, this.#stop.signal)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#underWay.delete(under);
        this.#beginNext();
      });
    this.#underWay.add(under);
  }
}
