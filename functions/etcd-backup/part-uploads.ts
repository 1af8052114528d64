// Parts that wait to be uploaded, from where they lie on the disk: a few of them go out at once.
import { orAbort } from '../../shared/or-abort.ts';
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

  /**
   * Until all are there, or one has failed. Those under way when the signal aborts are left to
   * `settle`: a part that is cut may still come, and be left behind.
   */
  async end(signal: AbortSignal): Promise<void> {
    while (this.#underWay.size > 0) {
      await orAbort(Promise.race(this.#underWay), signal);
      this.assertNoneFailed();
    }
    signal.throwIfAborted();
    this.assertNoneFailed();
  }

  /** Nothing is under way afterwards: a part would come after an abort, and be left. */
  async settle(): Promise<void> {
    this.#waiting.length = 0;
    await settle({ settled: () => this.#settled() }, this.#stop);
  }

  async #settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
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
