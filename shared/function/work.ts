// One admitted request: its context for the handler, and the promise that it is answered exactly
// once, whatever comes first: the handler's result, the deadline, the end of a drain, or the
// caller hanging up.
import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import { Failure } from '../errors.ts';
import { CallerGone } from './body.ts';
import type { Context } from './define.ts';
import type { Admitted } from './admission.ts';
import { failureFields } from './log.ts';
import type { Metrics } from './metrics.ts';
import { failureOf, sendProblem } from './problem.ts';
import { BUSY_RETRY_AFTER_MS } from './runtime-config.ts';
import type { Outcome, Runtime } from './runtime.ts';

export abstract class Work<Deps> implements Context<Deps>, Admitted {
  readonly runtime: Runtime<Deps>;
  readonly response: ServerResponse;
  readonly startedMs: number;
  traceparent: string | undefined;
  #isAnswered = false;
  #abort: AbortController | undefined;
  #endedBy: Error | undefined;
  #log: Logger | undefined;

  constructor(runtime: Runtime<Deps>, response: ServerResponse) {
    this.runtime = runtime;
    this.response = response;
    this.startedMs = runtime.clock.nowMs();
    // Node cannot read its body, or no more of it comes.
    response.once('broken', (reason: Failure) => this.expire(reason));
    response.once('close', () => {
      if (!response.writableFinished) this.#abandon();
    });
  }

  /** Fields of every log line about this request. */
  protected abstract logFields(): Record<string, unknown>;
  /** Called once, with how it went. */
  protected abstract count(outcome: Outcome, tookMs: number): void;

  get deps(): Deps {
    return this.runtime.deps;
  }
  get clock(): Clock {
    return this.runtime.clock;
  }
  get metrics(): Metrics {
    return this.runtime.metrics;
  }

  // Made on demand: an event that is handled without a call or a line needs neither.
  get log(): Logger {
    this.#log ??= this.runtime.log.child(this.logFields());
    return this.#log;
  }
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#endedBy !== undefined) this.#abort.abort(this.#endedBy);
    }
    return this.#abort.signal;
  }

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  expire(reason: Failure): void {
    this.#end(reason);
    this.fail(reason);
  }

  /** `send` may throw a Failure as long as it has not written anything. */
  succeed(outcome: Outcome, send: () => void): void {
    if (this.#isAnswered) return;
    this.#announceEnd();
    send();
    this.#answered(outcome);
  }

  fail(thrown: unknown): void {
    const isCut = thrown instanceof CallerGone;
    if (isCut && this.response.req.socket.destroyed) return this.#abandon();
    const failure = isCut ? cutShort() : failureOf(thrown);
    if (this.#isAnswered) {
      this.log.debug(failureFields(failure), 'failed after its answer');
      return;
    }
    this.#announceEnd();
    sendProblem(this.response, failure);
    this.runtime.countFailure(failure);
    if (failure.kind === 'bug') this.log.error(failureFields(failure), 'bug');
    else
      this.log.warn(failureFields(failure), failure.kind === 'retry' ? 'to be retried' : 'refused');
    this.#answered(failure.kind);
  }

  #abandon(): void {
    if (this.#isAnswered) return;
    const gone = new CallerGone();
    this.#answered('gone');
    this.#end(gone);
    this.log.warn('caller went away');
  }

  #end(reason: Error): void {
    this.#endedBy = reason;
    this.#abort?.abort(reason);
  }

  #announceEnd(): void {
    // A connection that outlives the process would cost its next request.
    if (this.runtime.admission.isDraining) this.response.shouldKeepAlive = false;
  }

  #answered(outcome: Outcome): void {
    this.#isAnswered = true;
    this.count(outcome, this.runtime.clock.nowMs() - this.startedMs);
  }
}

/** Shared work ends with the request that began it, while other callers still wait for it. */
function cutShort(): Failure {
  const message =
    'The work was shared with a request whose caller went away, and ended with it; send the ' +
    'request again.';
  return new Failure('SHARED_WORK_ENDED', message, { retryAfterMs: BUSY_RETRY_AFTER_MS });
}
