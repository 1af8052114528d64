// A client that writes one key after the other, and knows which of them an etcd has acknowledged at
// which revision.
import type { EtcdAdmin } from '../../../shared/etcd/admin.ts';
import { isEtcdFailure } from '../../../shared/etcd/admin/failure.ts';
import { systemClock } from '../../../shared/clock.ts';
import { until } from '../../builders/versioned-kind.ts';

const PREFIX = 'written/';
const BETWEEN_MS = 250;
/** A machine that has no time for it takes seconds. */
const TIMEOUT_MS = 10_000;

export class KeyWriter {
  readonly #admin: EtcdAdmin;
  readonly #revisions: bigint[] = [];
  readonly #work: Promise<void>;
  #isOn = true;

  private constructor(admin: EtcdAdmin) {
    this.#admin = admin;
    this.#work = this.#write();
    // `stop` tells what it fails with.
    this.#work.catch(() => undefined);
  }

  /** A node may refuse a while after it is Ready: it has yet to hear where its Service leads. */
  static async start(admin: EtcdAdmin): Promise<KeyWriter> {
    await until('the Service to lead to a member', async () => {
      try {
        await KeyWriter.foundIn(admin);
        return true;
      } catch (error) {
        if (isEtcdFailure(error, 'UNREACHABLE')) return false;
        throw error;
      }
    });
    return new KeyWriter(admin);
  }

  get acknowledged(): number {
    return this.#revisions.length;
  }

  /** How many it had written up to this revision. */
  writtenBy(revision: string): number {
    return this.#revisions.filter((one) => one <= BigInt(revision)).length;
  }

  /** Fails as `stop` does. */
  async untilItWrites(): Promise<void> {
    const before = this.acknowledged;
    const writes = until('writes to go on', () => this.acknowledged > before);
    await Promise.race([writes, this.#work.then(() => writes)]);
  }

  /** How many of its keys that etcd has. */
  static foundIn = (admin: EtcdAdmin): Promise<number> => admin.keys.count(PREFIX);

  /** Fails with the first write that was not acknowledged. */
  async stop(): Promise<void> {
    this.#isOn = false;
    await this.#work;
  }

  async #write(): Promise<void> {
    while (this.#isOn) {
      const value = `${this.#revisions.length}`;
      const written = await this.#admin.keys.put(`${PREFIX}${value}`, value, {
        timeoutMs: TIMEOUT_MS,
      });
      this.#revisions.push(BigInt(written.revision ?? 0));
      await systemClock.sleep(BETWEEN_MS);
    }
  }
}
