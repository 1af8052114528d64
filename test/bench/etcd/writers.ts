// Writers of an etcd, as clients that are in a hurry: each writes at one member, one key after the
// other, and goes to the next member when it is refused or has no answer for a moment. At the end:
// the longest time that any of them was without an acknowledgement.
import { systemClock } from '../../../shared/clock.ts';
import { isEtcdFailure } from '../../../shared/etcd/admin/failure.ts';
import { type EtcdMemberAdmin, openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import { until } from '../../builders/versioned-kind.ts';
import { median } from '../verdict.ts';

export interface WritersReport {
  readonly acknowledged: number;
  readonly longestPauseMs: number;
  /** The median time of a write, by which one run is compared with another. */
  readonly writeMs: number;
}

/** A write takes some milliseconds; whoever waits longer could have been elsewhere by then. */
const TIMEOUT_MS = 200;
const BETWEEN_MS = 10;
/** Acknowledgements of each after which all of them are at work. */
const SOME = 20;

export class Writers {
  readonly #admins: readonly EtcdMemberAdmin[];
  /** When writes were acknowledged, by writer. */
  readonly #acknowledged: number[][];
  readonly #tookMs: number[] = [];
  readonly #startedAtMs = performance.now();
  readonly #work: readonly Promise<void>[];
  readonly #ended = new AbortController();

  /** One at each of these members first; all of them know all. */
  constructor(urls: readonly string[]) {
    this.#admins = urls.map((endpoint) => openEtcdAdmin({ endpoint }));
    this.#acknowledged = urls.map(() => []);
    this.#work = urls.map((_, index) => this.#write(index));
  }

  async untilAllWrite(): Promise<void> {
    const before = this.#acknowledged.map(({ length }) => length);
    const isWriting = (): boolean =>
      this.#acknowledged.every(({ length }, index) => length > (before[index] ?? 0) + SOME);
    await until('each writer to write', isWriting);
  }

  async stop(): Promise<WritersReport> {
    this.#ended.abort();
    await Promise.all(this.#work);
    await Promise.all(this.#admins.map((admin) => admin.close()));
    const endedAtMs = performance.now();
    const pauses = this.#acknowledged.map((times) => {
      const all = [this.#startedAtMs, ...times, endedAtMs];
      return Math.max(...all.slice(1).map((at, index) => at - (all[index] ?? at)));
    });
    return {
      acknowledged: this.#tookMs.length,
      longestPauseMs: Math.max(...pauses),
      writeMs: median(this.#tookMs),
    };
  }

  async #write(writer: number): Promise<void> {
    let at = writer;
    for (let turn = 0; !this.#ended.signal.aborted; turn += 1) {
      const sentAtMs = performance.now();
      try {
        const options = { timeoutMs: TIMEOUT_MS };
        await this.#admins[at]?.keys.put(`/bench/${writer}`, String(turn), options);
        const nowMs = performance.now();
        this.#acknowledged[writer]?.push(nowMs);
        this.#tookMs.push(nowMs - sentAtMs);
      } catch (error) {
        if (!isEtcdFailure(error)) throw error;
        at = (at + 1) % this.#admins.length;
      }
      await systemClock.sleep(BETWEEN_MS);
    }
  }
}
