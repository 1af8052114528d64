// One object of the narrow cache: what is held of it, and the watch that keeps that true for as
// long as the entry lasts, whatever happens to connections, API servers and callers.
import type { Clock } from '../../clock.ts';
import { Failure } from '../../errors.ts';
import type { KubeLog } from '../log.ts';
import { isKubeError, type KubeError } from '../errors.ts';
import type { KubeObject } from '../objects.ts';
import { describeObject } from '../paths.ts';
import { pauseMs } from '../retry.ts';
import { orAbort } from '../../or-abort.ts';
import { afterAnswer, afterEvent, afterGet, type Held, isChange } from './held.ts';
import type { Change } from './handlers.ts';
import type { Limits } from './limits.ts';
import { ObjectWatcher, type Observation } from './object-watcher.ts';
import type { Meters } from './meters.ts';
import { readOne } from './read.ts';
import type { Kube, Target } from './target.ts';

export interface EntryWiring {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: KubeLog | undefined;
  readonly limits: Limits;
  readonly meters: Meters;
  onChange(change: Change): void;
  onState(): void;
}

/**
 * `starting`: the first answer of a connection is awaited, and a get waits with it. `watching`:
 * what is held is true. `broken`: it may not be; there is a pause, or another attempt. `resting`:
 * an immutable object that needs no watch for now.
 */
type State = 'starting' | 'watching' | 'broken' | 'resting';

/** As long as the longest pause between attempts. */
const LASTING_MS = 10_000;

type Outcome = { readonly rests: true } | { readonly failure: unknown };

export class Entry {
  readonly target: Target;
  /** Since when nobody asks for it. */
  usedAtMs: number;
  readonly #wiring: EntryWiring;
  readonly #watcher: ObjectWatcher;
  readonly #end = new AbortController();
  #state: State = 'starting';
  #held: Held | undefined;
  #freshUntilMs = -Infinity;
  #brokenAtMs: number | undefined;
  #wholeAtMs = -Infinity;
  /** Settles with the first answer, or with why there is none. */
  #start = Promise.withResolvers<void>();
  #rest = Promise.withResolvers<void>();
  /** Why it may not be listed, and for how long that is believed. */
  #refusal: KubeError | undefined;
  #refusedUntilMs = -Infinity;
  /** The last reported code, so that each is reported once. */
  #toldCode: string | undefined;
  #reading: Promise<KubeObject | null> | undefined;
  #waiting = 0;

  constructor(target: Target, wiring: EntryWiring) {
    this.target = target;
    this.#wiring = wiring;
    this.#watcher = new ObjectWatcher(target, wiring);
    this.usedAtMs = wiring.clock.nowMs();
    void this.#run();
  }

  /** The object when it is fresh enough to be returned without a request; else undefined. */
  get fresh(): Held | undefined {
    return this.#wiring.clock.nowMs() < this.#freshUntilMs ? this.#held : undefined;
  }

  get isWatching(): boolean {
    return this.#state === 'watching';
  }

  get isBroken(): boolean {
    return this.#state === 'broken';
  }

  /** True while a caller waits for the entry, so it must not end. */
  get isAwaited(): boolean {
    return this.#waiting > 0;
  }

  /**
   * The object as it is now. The signal ends this wait alone: others may wait for the same answer.
   */
  async read(signal: AbortSignal | undefined): Promise<KubeObject | null> {
    this.#waiting += 1;
    const ended = this.#end.signal;
    const until = signal === undefined ? ended : AbortSignal.any([signal, ended]);
    try {
      return await orAbort(this.#readNow(), until);
    } finally {
      this.#waiting -= 1;
      this.usedAtMs = this.#wiring.clock.nowMs();
    }
  }

  /** Watches an immutable object again. */
  wake(): void {
    if (this.#state !== 'resting') return;
    this.#state = 'starting';
    this.#rest.resolve();
  }

  end(reason: unknown): void {
    this.#end.abort(reason);
    this.#rest.resolve();
    this.#start.resolve();
  }

  async #readNow(): Promise<KubeObject | null> {
    this.wake();
    if (this.#state === 'starting') await this.#start.promise;
    const { fresh } = this;
    if (fresh !== undefined) return fresh.object;
    this.#end.signal.throwIfAborted();
    this.#reading ??= this.#readLive().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readLive(): Promise<KubeObject | null> {
    const { kube, clock, limits } = this.#wiring;
    const options = { signal: this.#end.signal, timeoutMs: limits.readTimeoutMs };
    const heldThen = this.#held;
    const known = clock.nowMs() < this.#refusedUntilMs ? this.#refusal : undefined;
    const { answer, refusal } = await readOne(kube, this.target, options, known);
    if (refusal === undefined) {
      return this.#take(afterAnswer(this.#held, heldThen, answer)).object;
    }
    if (refusal !== known) this.#refusedUntilMs = clock.nowMs() + limits.refusedPauseMs;
    this.#refusal = refusal;
    // A 404 has no version, so it is returned and not cached.
    if (answer === undefined) return null;
    return this.#take(afterGet(this.#held, heldThen, answer)).object;
  }

  async #run(): Promise<void> {
    const { clock, random } = this.#wiring;
    const { signal } = this.#end;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const outcome = await this.#follow();
      if ('rests' in outcome) {
        await this.#rest.promise;
        attempt = -1;
      } else if (!signal.aborted) {
        if (this.#hasLasted()) attempt = 0;
        this.#break(outcome.failure);
        const waitMs = pauseMs(attempt, random, this.#leastPauseMs(outcome.failure));
        // Only the end of the entry ends the pause early, and the loop sees that.
        await clock.sleep(waitMs, signal).catch(() => undefined);
      }
    }
  }

  /** A server that ends every watch at once is not asked again at once. */
  #hasLasted(): boolean {
    const wholeForMs = this.#wiring.clock.nowMs() - this.#wholeAtMs;
    return this.#state === 'watching' && wholeForMs >= LASTING_MS;
  }

  /** One connection, for as long as it lasts. */
  async #follow(): Promise<Outcome> {
    const heldThen = this.#held;
    try {
      for await (const observation of this.#watcher.watch(this.#end.signal)) {
        this.#see(observation, heldThen);
        if (this.#state === 'resting') return { rests: true };
      }
      return { failure: undefined };
    } catch (failure) {
      return { failure };
    }
  }

  #see({ kind, object, version }: Observation, heldThen: Held | undefined): void {
    const { clock, limits, meters } = this.#wiring;
    if (kind === 'whole' || this.#held === undefined) {
      this.#take(afterAnswer(this.#held, heldThen, { object, version }));
      this.#freshUntilMs = Infinity;
      if (this.#brokenAtMs !== undefined) meters.mended(clock.nowMs() - this.#brokenAtMs);
      this.#brokenAtMs = undefined;
      this.#wholeAtMs = clock.nowMs();
      this.#toldCode = undefined;
      this.#become('watching');
      this.#start.resolve();
    } else {
      const seen = kind === 'mark' ? this.#held.object : object;
      this.#take(afterEvent(this.#held, { object: seen, version }));
    }
    if (!isImmutable(this.target, this.#held)) return;
    this.#freshUntilMs = clock.nowMs() + limits.immutableMs;
    this.#start = Promise.withResolvers();
    this.#rest = Promise.withResolvers();
    this.#become('resting');
  }

  #take(next: Held): Held {
    const old = this.#held;
    this.#held = next;
    if (isChange(old, next)) {
      this.#wiring.onChange({ ...this.target, old: old?.object, new: next.object });
    }
    return next;
  }

  #break(failure: unknown): void {
    const { clock, limits, log, meters } = this.#wiring;
    if (this.#state === 'watching') this.#freshUntilMs = clock.nowMs() + limits.staleMaxMs;
    this.#brokenAtMs ??= clock.nowMs();
    this.#become('broken');
    this.#start.resolve();
    const code = failure instanceof Failure ? failure.code : 'INTERNAL_BUG';
    meters.restarted(failure === undefined ? 'closed' : code);
    if (code === 'KUBE_CLOSED') this.end(failure);
    if (failure === undefined || code === this.#toldCode) return;
    this.#toldCode = code;
    const object = describeObject(this.target.ref, this.target);
    const why = failure instanceof Failure ? { detail: failure.message } : { err: failure };
    log?.warn({ code, object, ...why }, 'The watch of one object broke; it begins again');
  }

  #become(state: State): void {
    this.#state = state;
    this.#wiring.onState();
  }

  #leastPauseMs(failure: unknown): number | undefined {
    if (isKubeError(failure, 'KUBE_FORBIDDEN', 'KUBE_NOT_FOUND')) {
      return this.#wiring.limits.refusedPauseMs;
    }
    return failure instanceof Failure ? failure.retryAfterMs : undefined;
  }
}

/** A field of this name means that in these kinds only. */
function isImmutable({ ref }: Target, held: Held | undefined): boolean {
  const isKnown = ref.group === '' && ['secrets', 'configmaps'].includes(ref.resource);
  return isKnown && held?.object?.['immutable'] === true;
}
