// A replica of the whole feed, how fresh it has to be for an answer, and the keys that tokens of
// callers are verified with.
import { Failure } from '../../shared/errors.ts';
import type { KeyReader } from '../../shared/kube/key-reader.ts';
import type { Replica } from '../../shared/nats/replica/replica.ts';

/** The part of a replica that routes use. */
export type Reader = Pick<Replica, 'catalog' | 'counts' | 'state' | 'whenCurrent' | 'close'>;

/** Reads the keys that tokens of callers are signed with. */
export type Keys = Pick<KeyReader, 'read' | 'close'>;

/** A catch-up takes a second or a few. */
const RETRY_CATCHING_UP_MS = 2_000;
/** The version that a caller waits for was published already: it is on its way. */
const RETRY_VERSION_MS = 1_000;

export class Deps {
  readonly replica: Reader;
  readonly keys: Keys;
  readonly #waitMs: number;
  /** A replica that caught up once stays complete, though it grows old while NATS is away. */
  #isWhole = false;

  constructor(replica: Reader, waitMs: number, keys: Keys) {
    this.replica = replica;
    this.keys = keys;
    this.#waitMs = waitMs;
    replica.whenCurrent().then(
      () => {
        this.#isWhole = true;
      },
      // The replica was closed before it caught up.
      () => undefined,
    );
  }

  /** Rejects while the replica has not caught up, or not to the version that the caller wants. */
  async reach(minVersion: number, signal: AbortSignal): Promise<void> {
    const { replica } = this;
    if (!this.#isWhole && replica.state.phase !== 'current') throw this.#catchingUp();
    if (replica.state.version >= minVersion) return;
    const limit = AbortSignal.timeout(this.#waitMs);
    const either = AbortSignal.any([signal, limit]);
    try {
      await replica.whenCurrent({ minVersion, signal: either });
    } catch (error) {
      if (!limit.aborted) throw error;
    }
    if (replica.state.version < minVersion) throw this.#notReached(minVersion);
  }

  async close(): Promise<void> {
    await Promise.all([this.replica.close(), this.keys.close()]);
  }

  #catchingUp(): Failure {
    const { catalog, state } = this.replica;
    const left = state.behind === undefined ? '' : `, ${state.behind} messages to go`;
    const why = state.why === undefined ? '' : ` (${state.why})`;
    const message =
      `The picture of the cluster is not whole yet: ${state.phase}${why}, ` +
      `${catalog.size} objects held${left}. Come again.`;
    return new Failure('FEED_CATCHING_UP', message, { retryAfterMs: RETRY_CATCHING_UP_MS });
  }

  #notReached(minVersion: number): Failure {
    const { version, phase } = this.replica.state;
    const message =
      `Version ${minVersion} was asked for; after ${this.#waitMs / 1_000} s this instance stands ` +
      `at ${version} (${phase}). Come again.`;
    const detail = { field: 'minVersion', retryAfterMs: RETRY_VERSION_MS };
    return new Failure('FEED_VERSION_AHEAD', message, detail);
  }
}
