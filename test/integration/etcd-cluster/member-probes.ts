// Probes as a kubelet's, at every member and without a rest, while these become others.
import { systemClock } from '../../../shared/clock.ts';

const PATHS = ['livez', 'readyz', 'health'] as const;
const EVERY_MS = 300;
const WITHIN_MS = 2_000;

export class MemberProbes {
  readonly #ends = new AbortController();
  readonly #answered: Record<string, number> = {};
  readonly #work: Promise<unknown>;

  /** `addresses`: those of the pods, which stay the same in the life of a member. */
  constructor(addresses: readonly string[]) {
    const probes = addresses.flatMap((address) => PATHS.map((path) => this.#probe(address, path)));
    this.#work = Promise.all(probes);
  }

  /** Probes that were answered, by path. */
  async stop(): Promise<Readonly<Record<string, number>>> {
    this.#ends.abort();
    await this.#work;
    return this.#answered;
  }

  /** A member that is being restarted does not answer; what it answers is counted. */
  async #probe(address: string, path: string): Promise<void> {
    while (!this.#ends.signal.aborted) {
      const signal = AbortSignal.timeout(WITHIN_MS);
      const url = `http://${address}:2381/${path}`;
      const answer = await fetch(url, { signal }).catch(() => undefined);
      await answer?.text().catch(() => undefined);
      if (answer?.ok === true) this.#answered[path] = (this.#answered[path] ?? 0) + 1;
      await systemClock.sleep(EVERY_MS);
    }
  }
}
