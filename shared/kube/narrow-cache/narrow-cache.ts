// The narrow cache: single objects, each kept true by a watch of its own, whatever else is in the
// cluster. A get asks nobody while the watch is whole; a handler wakes whoever refers to an object
// when that is made, changed or deleted.
import { type Clock, systemClock } from '../../clock.ts';
import { Failure } from '../../errors.ts';
import type { KubeLog } from '../log.ts';
import type { KubeObject, ResourceRef } from '../objects.ts';
import { describeObject, resourcePath } from '../paths.ts';
import { Entry, type EntryWiring } from './entry.ts';
import { type Handler, Handlers } from './handlers.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { type MeterRegistry, metersIn } from './meters.ts';
import { readOne } from './read.ts';
import type { Kube, Name, Target } from './target.ts';

export interface NarrowCacheOptions {
  readonly clock?: Clock;
  /** In [0, 1): spreads pauses. */
  readonly random?: () => number;
  readonly log?: KubeLog;
  readonly metrics?: MeterRegistry;
  readonly limits?: Partial<Limits>;
}

export interface CachedGetOptions {
  /** Ends the waiting with the signal's reason; the watch goes on for others. */
  readonly signal?: AbortSignal | undefined;
}

export function narrowCache(kube: Kube, options: NarrowCacheOptions = {}): NarrowCache {
  return new NarrowCache(kube, options);
}

export class NarrowCache {
  readonly #wiring: EntryWiring;
  readonly #handlers: Handlers;
  /** The one that was not asked for the longest is first. */
  readonly #entries = new Map<string, Entry>();
  readonly #end = new AbortController();
  #isTidying = false;

  constructor(kube: Kube, options: NarrowCacheOptions) {
    const { clock = systemClock, random = Math.random, log, metrics, limits } = options;
    this.#handlers = new Handlers(log);
    this.#wiring = {
      kube,
      clock,
      random,
      log,
      limits: { ...DEFAULT_LIMITS, ...limits },
      meters: metersIn(metrics),
      onChange: (change) => this.#handlers.tell(keyOf(change.ref, change), change),
      onState: () => this.#measure(),
    };
  }

  /**
   * The object as it is now, frozen and without its managedFields; null when there is none. While
   * its watch is broken the last value serves for `staleMaxMs`; after that the API server is asked,
   * and what it refuses is thrown.
   */
  async get(
    ref: ResourceRef,
    name: Name,
    { signal }: CachedGetOptions = {},
  ): Promise<KubeObject | null> {
    this.#end.signal.throwIfAborted();
    signal?.throwIfAborted();
    const { meters, clock } = this.#wiring;
    const key = keyOf(ref, name);
    const known = this.#entries.get(key);
    if (known !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, known);
    }
    const fresh = known?.fresh;
    if (known !== undefined && fresh !== undefined) {
      known.usedAtMs = clock.nowMs();
      (known.isBroken ? meters.stale : meters.hits).value += 1;
      return fresh.object;
    }
    meters.misses.value += 1;
    const entry = known ?? this.#open(key, ref, name);
    return entry === undefined ? this.#pass({ ref, ...name }, signal) : entry.read(signal);
  }

  /**
   * Has the handler called for every change of the object from now on, and once when something is
   * first known of it. Holds the object until the returned function is called; the same handler
   * twice is one.
   */
  source(ref: ResourceRef, name: Name, handler: Handler): () => void {
    this.#end.signal.throwIfAborted();
    const key = keyOf(ref, name);
    if ((this.#entries.get(key) ?? this.#open(key, ref, name)) === undefined) {
      throw full(describeObject(ref, name), this.#wiring.limits.entriesMax);
    }
    this.#handlers.add(key, handler);
    return () => {
      this.#handlers.remove(key, handler);
      const entry = this.#entries.get(key);
      if (entry !== undefined) entry.usedAtMs = this.#wiring.clock.nowMs();
    };
  }

  close(): void {
    const message = 'The narrow cache is closed: this instance ends, another one will do it.';
    const reason = new Failure('KUBE_CLOSED', message);
    this.#end.abort(reason);
    for (const entry of this.#entries.values()) entry.end(reason);
    this.#entries.clear();
    this.#measure();
  }

  /** Undefined when every place is taken by an object that somebody needs. */
  #open(key: string, ref: ResourceRef, name: Name): Entry | undefined {
    const { entriesMax } = this.#wiring.limits;
    // Throws for what cannot be a name.
    resourcePath(ref, name);
    if (this.#entries.size >= entriesMax && !this.#evict()) return undefined;
    const entry = new Entry({ ref, ...name }, this.#wiring);
    this.#entries.set(key, entry);
    this.#measure();
    if (!this.#isTidying) void this.#tidy();
    return entry;
  }

  /** The longest unused one goes, unless it wakes somebody or is waited for. */
  #evict(): boolean {
    for (const [key, entry] of this.#entries) {
      if (this.#handlers.has(key) || entry.isAwaited) continue;
      this.#remove(key, entry, 'ceiling');
      return true;
    }
    return false;
  }

  #remove(key: string, entry: Entry, reason: 'idle' | 'ceiling'): void {
    this.#entries.delete(key);
    const message = `${key} is no longer held in the narrow cache: ask again.`;
    entry.end(new Failure('KUBE_CLOSED', message));
    this.#wiring.meters.ended(reason);
    this.#measure();
  }

  /** Reads what there is no place for, and keeps nothing. */
  async #pass(target: Target, signal: AbortSignal | undefined): Promise<KubeObject | null> {
    const { kube, limits } = this.#wiring;
    const end = this.#end.signal;
    const until = signal === undefined ? end : AbortSignal.any([signal, end]);
    const options = { signal: until, timeoutMs: limits.readTimeoutMs };
    return (await readOne(kube, target, options)).answer?.object ?? null;
  }

  async #tidy(): Promise<void> {
    const { clock, limits } = this.#wiring;
    const { signal } = this.#end;
    this.#isTidying = true;
    while (this.#entries.size > 0 && !signal.aborted) {
      // Only the end of the cache ends the pause early, and the loop sees that.
      await clock.sleep(limits.tidyMs, signal).catch(() => undefined);
      for (const [key, entry] of this.#entries) this.#wakeOrRemove(key, entry);
    }
    this.#isTidying = false;
  }

  #wakeOrRemove(key: string, entry: Entry): void {
    const { clock, limits } = this.#wiring;
    if (this.#handlers.has(key)) {
      if (entry.fresh === undefined) entry.wake();
    } else if (!entry.isAwaited && clock.nowMs() - entry.usedAtMs >= limits.idleMs) {
      this.#remove(key, entry, 'idle');
    }
  }

  #measure(): void {
    const watched = [...this.#entries.values()].filter(({ isWatching }) => isWatching);
    this.#wiring.meters.holds(this.#entries.size, watched.length);
  }
}

/** Names hold no slash, so this says one object; `#open` refuses the names that do. */
const keyOf = ({ group, version, resource }: ResourceRef, { namespace = '', name }: Name): string =>
  `${group}/${version}/${resource}/${namespace}/${name}`;

function full(object: string, entriesMax: number): Failure {
  const message =
    `${object} cannot be followed: all ${entriesMax} places of the narrow cache wake somebody. ` +
    'End what is no longer needed, or raise entriesMax.';
  return new Failure('KUBE_CACHE_FULL', message, { object });
}
