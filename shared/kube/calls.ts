// Sends requests until they succeed, cannot be repeated, or the caller's time is over; counts
// what is sent.
import type { Clock } from '../clock.ts';
import { type ErrorCode, Failure } from '../errors.ts';
import type { Connection, Exchange, Pool } from './connection.ts';
import {
  errorFromAnswer,
  errorFromTransport,
  isKubeError,
  type KubeError,
  readStatus,
  timeoutError,
} from './errors.ts';
import { beginningOf, readAnswer } from './bodies.ts';
import { describeNotJson, parseLossless } from './json.ts';
import { ServedVersion } from './own-kinds/served-version.ts';
import { resourceName, withQuery } from './paths.ts';
import type { About, CallOptions, KubeRequest } from './request.ts';
import type { KubeLog } from './log.ts';
import { mayRepeat, pauseMs, retryAfterMs, type Setback } from './retry.ts';

/** One repetition of a call, or one more connection of a watch, for metrics. */
export interface Retry {
  readonly verb: string;
  /** `deployments.apps/status`, or the path of what is no resource. */
  readonly resource: string;
  readonly code: ErrorCode;
  /** Undefined when the API server did not answer. */
  readonly statusCode: number | undefined;
}

export interface Answer {
  readonly statusCode: number;
  readonly contentType: string;
  readonly text: string;
}

/** Longer than one attempt on a dead connection, shorter than what Knative gives a function. */
const CALL_TIMEOUT_MS = 30_000;

export interface Sized<Result> {
  readonly value: Result;
  readonly bytes: number;
}

interface Wiring {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly random: () => number;
  readonly userAgent: string;
  readonly log: KubeLog | undefined;
  readonly onRetry: ((retry: Retry) => void) | undefined;
}

export class Calls {
  readonly #wiring: Wiring;
  readonly #counts = new Map<string, number>();
  readonly #served = new ServedVersion();

  constructor(wiring: Wiring) {
    this.#wiring = wiring;
  }

  get counts(): Map<string, number> {
    return this.#counts;
  }

  /** The caller names the shape of the answer: the API server keeps its objects to their schema. */
  async json<Result>(request: KubeRequest, options: CallOptions): Promise<Result> {
    return (await this.sized<Result>(request, options)).value;
  }

  /** The same, and how much it weighed. */
  async sized<Result>(request: KubeRequest, options: CallOptions): Promise<Sized<Result>> {
    const { text, contentType } = await this.send(request, options);
    try {
      const value = this.heard(request.about, parseLossless(text));
      // The API server keeps to the shapes of its kinds.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return { value: value as Result, bytes: text.length };
    } catch (error) {
      const problem = `${describeNotJson(text, error)} (${contentType || 'no content type'})`;
      throw errorFromTransport(request.about, new Error(`it answered ${problem}`));
    }
  }

  /** The answer when it is a success; a KubeError, or the signal's reason, otherwise. */
  send(request: KubeRequest, options: CallOptions): Promise<Answer> {
    return this.#served.ask(request, (asked) => this.#send(asked, options));
  }

  async #send(request: KubeRequest, options: CallOptions): Promise<Answer> {
    const { timeoutMs = CALL_TIMEOUT_MS } = options;
    options.signal?.throwIfAborted();
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
    const endsAtMs = this.#wiring.clock.nowMs() + timeoutMs;
    let last: KubeError | undefined;
    try {
      for (let attempt = 0; ; attempt += 1) {
        const outcome = await this.#attempt(request, signal);
        if ('text' in outcome) return outcome;
        last = outcome.error;
        if (options.isOnce === true) throw last;
        await this.#pauseBeforeNext(outcome, request, attempt, endsAtMs, signal);
      }
    } catch (error) {
      // The caller knows best why it gave up; our own bound is explained by what went wrong last.
      options.signal?.throwIfAborted();
      if (timeout.aborted && !(error instanceof Failure)) {
        throw timeoutError(request.about, timeoutMs, last ?? error);
      }
      throw error;
    }
  }

  /**
   * One attempt at something that answers for long; the caller reads the body, and comes again
   * when it breaks.
   */
  open(request: KubeRequest, signal: AbortSignal, pool: Pool): Promise<AsyncIterable<Uint8Array>> {
    return this.#served.ask(request, async (asked) => {
      const outcome = await this.#exchange(asked, signal, pool);
      if ('error' in outcome) throw outcome.error;
      return outcome.body;
    });
  }

  /** In the words of who asked. */
  heard(about: About, answer: unknown): unknown {
    return this.#served.heard(about, answer);
  }

  async #attempt(
    request: KubeRequest,
    signal: AbortSignal,
  ): Promise<Answer | { readonly error: KubeError; readonly setback: Setback }> {
    const outcome = await this.#exchange(request, signal, 'call');
    if ('error' in outcome) return outcome;
    const { statusCode, headers, body } = outcome;
    try {
      const text = await readAnswer(request, body);
      return { statusCode, contentType: String(headers['content-type'] ?? ''), text };
    } catch (cause) {
      return cut(request.about, cause, signal);
    }
  }

  async #exchange(request: KubeRequest, signal: AbortSignal, pool: Pool) {
    const { connection, clock } = this.#wiring;
    const { about } = request;
    try {
      const answer = await connection.send(this.#exchangeFor(request, signal, pool), () =>
        this.#count(about),
      );
      const { statusCode, headers, body } = answer;
      if (statusCode < 300) return answer;
      const waitMs = retryAfterMs(headers['retry-after'], clock.nowMs());
      const status = readStatus(statusCode, await beginningOf(body), waitMs);
      const setback = { statusCode, retryAfterMs: status.retryAfterMs };
      return { error: errorFromAnswer(about, status), setback };
    } catch (cause) {
      return cut(about, cause, signal);
    }
  }

  #exchangeFor(request: KubeRequest, signal: AbortSignal, pool: Pool): Exchange {
    const { method, path, query = {}, body, contentType = 'application/json' } = request;
    // An API server that knows no such form answers with the whole.
    const { as } = request;
    const part = as === undefined ? '' : `application/json;as=${as};g=meta.k8s.io;v=v1, `;
    return {
      method,
      path: withQuery(path, query),
      headers: {
        accept: request.accept ?? `${part}application/json`,
        'user-agent': this.#wiring.userAgent,
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
      pool,
    };
  }

  async #pauseBeforeNext(
    { error, setback }: { error: KubeError; setback: Setback },
    request: KubeRequest,
    attempt: number,
    endsAtMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, random, log } = this.#wiring;
    if (!mayRepeat(setback, request.repeat)) throw error;
    const afterMs = 'statusCode' in setback ? setback.retryAfterMs : undefined;
    const waitMs = pauseMs(attempt, random, afterMs);
    // Waiting past the end would only hide the reason behind a timeout.
    if (clock.nowMs() + waitMs >= endsAtMs) throw error;
    log?.warn({ code: error.code, object: error.object, waitMs, attempt }, 'API call again');
    this.noteRetry(request.about, error);
    await clock.sleep(waitMs, signal);
  }

  noteRetry(about: About, failure: Failure): void {
    const statusCode = isKubeError(failure) ? failure.answer?.statusCode : undefined;
    const { code } = failure;
    this.#wiring.onRetry?.({ verb: about.verb, resource: resourceOf(about), code, statusCode });
  }

  #count(about: About): void {
    const key = `${about.verb} ${resourceOf(about)}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }
}

const resourceOf = (about: About): string =>
  'path' in about ? about.path : resourceName(about.ref, about.subresource);

/** A failure without an answer; what the caller ended is not one. */
function cut(about: About, cause: unknown, signal: AbortSignal) {
  if (signal.aborted || cause instanceof Failure) throw cause;
  const error = errorFromTransport(about, cause);
  return { error, setback: { transportCode: transportCode(cause) } };
}

function transportCode(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  // A host with several addresses fails with all their errors at once.
  const [inner] = cause instanceof AggregateError ? cause.errors : [];
  const code: unknown = 'code' in cause ? cause.code : undefined;
  if (typeof code === 'string') return code;
  return inner === undefined ? '' : transportCode(inner);
}
