// How to reach the API server and as whom, remembered for a while: tokens and certificates are
// rotated under a running process, so they are read again when due and when they are refused.
import type { Clock } from '../clock.ts';
import { Failure } from '../errors.ts';
import type { KubeLog } from './log.ts';
import { orAbort } from '../or-abort.ts';

export interface Access {
  readonly server: string;
  readonly proxyUrl?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
}

export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: false;
}

/**
 * `isRefused`: the API server did not take the last credentials, so nothing that was remembered
 * is good. The signal ends the read.
 */
export type ReadAccess = (isRefused: boolean, signal: AbortSignal) => Promise<Access>;

/** As long as client-go trusts a token that it has read; a refused one is read again at once. */
const ACCESS_MAX_AGE_MS = 60_000;

/** After a read that failed; the last good credentials serve until then. */
const ACCESS_RETRY_MS = 5_000;
/**
 * Files take milliseconds and an exec plugin a few requests to its cloud. Half of what a call has,
 * so that its caller hears why it failed.
 */
const ACCESS_READ_TIMEOUT_MS = 15_000;

export interface AccessCacheOptions {
  readonly log?: KubeLog | undefined;
  /** 15 s when absent. */
  readonly readTimeoutMs?: number;
}

/**
 * Reads credentials, at most once at a time and not again before they may have changed. Good ones
 * stay in use when they cannot be read again, until the API server refuses them.
 */
export class AccessCache {
  readonly #read: ReadAccess;
  readonly #clock: Clock;
  readonly #log: KubeLog | undefined;
  readonly #readTimeoutMs: number;
  #reading: Promise<Access> | undefined;
  /** Undefined once it is refused. */
  #latest: Access | undefined;
  #dueAtMs = 0;

  constructor(read: ReadAccess, clock: Clock, options: AccessCacheOptions = {}) {
    this.#read = read;
    this.#clock = clock;
    this.#log = options.log;
    this.#readTimeoutMs = options.readTimeoutMs ?? ACCESS_READ_TIMEOUT_MS;
  }

  /** Ends with the signal's reason; the read itself goes on for the others who wait for it. */
  async current(signal: AbortSignal): Promise<Access> {
    const isDue = this.#clock.nowMs() > this.#dueAtMs;
    if (this.#latest !== undefined && !isDue) return this.#latest;
    return orAbort(this.#reading ?? this.#readAgain(false), signal);
  }

  /**
   * The next credentials to try after `refused` was answered with 401; several calls that were
   * refused together cause one read.
   */
  async after(refused: Access, signal: AbortSignal): Promise<Access> {
    if (this.#latest !== refused) return this.current(signal);
    return orAbort(this.#readAgain(true), signal);
  }

  #readAgain(isRefused: boolean): Promise<Access> {
    const kept = isRefused ? undefined : this.#latest;
    this.#latest = kept;
    const dueAtMs = this.#clock.nowMs() + ACCESS_MAX_AGE_MS;
    const reading = this.#readInTime(isRefused).then(
      (access) => {
        if (this.#reading === reading) this.#settle(access, dueAtMs);
        return access;
      },
      (error: unknown) => {
        const isLatest = this.#reading === reading;
        if (isLatest) this.#settle(kept, this.#clock.nowMs() + ACCESS_RETRY_MS);
        if (kept === undefined) throw error;
        const detail = error instanceof Error ? error.message : String(error);
        this.#log?.warn({ detail }, 'Credentials cannot be read again: the last ones serve on');
        return kept;
      },
    );
    this.#reading = reading;
    return reading;
  }

  #settle(latest: Access | undefined, dueAtMs: number): void {
    this.#reading = undefined;
    this.#latest = latest;
    this.#dueAtMs = dueAtMs;
  }

  async #readInTime(isRefused: boolean): Promise<Access> {
    const timeout = AbortSignal.timeout(this.#readTimeoutMs);
    try {
      // A reader that does not heed its signal must not hold up everybody either.
      return await orAbort(this.#read(isRefused, timeout), timeout);
    } catch (error) {
      if (!timeout.aborted) throw error;
      const message =
        `The credentials for the API server were not read within ${this.#readTimeoutMs} ms: ` +
        'see whether the exec plugin of the kubeconfig, or the disk, hangs.';
      throw new Failure('KUBE_ACCESS_UNREADABLE', message);
    }
  }
}
