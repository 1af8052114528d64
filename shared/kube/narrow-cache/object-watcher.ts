// Watches one object for as long as a connection lasts: first its present state, then each change.
// One request does it where the API server sends initial events, else a list and a watch.
import type { Clock } from '../../clock.ts';
import { Failure } from '../../errors.ts';
import { isKubeError } from '../errors.ts';
import type { KubeObject } from '../objects.ts';
import { describeObject } from '../paths.ts';
import type { WatchEvent } from '../watch.ts';
import type { Held } from './held.ts';
import { keep } from './keep.ts';
import type { Limits } from './limits.ts';
import { listOne } from './read.ts';
import { isOf, type Kube, selection, type Target } from './target.ts';

/** The first one is `whole`; `mark` says that nothing else happened up to its version. */
export interface Observation extends Held {
  readonly kind: 'whole' | 'change' | 'mark';
}

interface WatcherWiring {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly limits: Pick<Limits, 'answerTimeoutMs'>;
}

/** Remembers which of the two ways its API server understands. */
export class ObjectWatcher {
  readonly #target: Target;
  readonly #wiring: WatcherWiring;
  #isListedFirst = false;

  constructor(target: Target, wiring: WatcherWiring) {
    this.#target = target;
    this.#wiring = wiring;
  }

  /** One connection, for as long as it lasts; throws what ends it, and when it says nothing. */
  async *watch(end: AbortSignal): AsyncGenerator<Observation, void, undefined> {
    const { clock, limits } = this.#wiring;
    const late = new AbortController();
    const inTime = new AbortController();
    const signal = AbortSignal.any([end, late.signal]);
    clock.sleep(limits.answerTimeoutMs, AbortSignal.any([signal, inTime.signal])).then(
      () => this.#giveUp(late),
      () => undefined,
    );
    const isListed = this.#isListedFirst;
    try {
      for await (const observation of this.#observations(isListed, signal)) {
        inTime.abort();
        yield observation;
      }
    } catch (error) {
      if (late.signal.aborted) throw late.signal.reason;
      if (isListed || !isKubeError(error, 'KUBE_INVALID', 'KUBE_BAD_REQUEST')) throw error;
      // The API server knows no initial events, and says so.
      this.#isListedFirst = true;
      inTime.abort();
      yield* this.watch(end);
    } finally {
      inTime.abort();
    }
  }

  #observations(
    isListed: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<Observation, void, undefined> {
    const { kube, limits } = this.#wiring;
    if (!isListed) return watchByInitialEvents(kube, this.#target, signal);
    return watchByList(kube, this.#target, signal, limits.answerTimeoutMs);
  }

  #giveUp(late: AbortController): void {
    // An API server that knows no initial events may also keep silent about it.
    this.#isListedFirst = !this.#isListedFirst;
    const name = describeObject(this.#target.ref, this.#target);
    const message = `The API server did not say in time what ${name} is. It is asked again.`;
    late.abort(new Failure('KUBE_TIMEOUT', message, { object: name }));
  }
}

async function* watchByInitialEvents(
  kube: Kube,
  target: Target,
  signal: AbortSignal,
): AsyncGenerator<Observation, void, undefined> {
  let found: KubeObject | null = null;
  let isWhole = false;
  const watch = kube.watchOnce(target.ref, {
    ...selection(target),
    from: 'initial-events',
    signal,
  });
  for await (const event of watch) {
    if (isWhole) yield* observationsOf(event, target);
    else if (event.type === 'BOOKMARK' && event.isInitialEventsEnd) {
      isWhole = true;
      yield { kind: 'whole', object: found, version: event.resourceVersion };
      // The cache has the object now; a reference here would outlive its changes.
      found = null;
    } else {
      for (const { kind, object } of observationsOf(event, target)) {
        if (kind === 'change') found = object;
      }
    }
  }
}

async function* watchByList(
  kube: Kube,
  target: Target,
  signal: AbortSignal,
  timeoutMs: number,
): AsyncGenerator<Observation, void, undefined> {
  const first = await listOne(kube, target, { signal, timeoutMs });
  yield { kind: 'whole', ...first };
  const from = { resourceVersion: first.version };
  const watch = kube.watchOnce(target.ref, { ...selection(target), from, signal });
  for await (const event of watch) yield* observationsOf(event, target);
}

function* observationsOf(
  event: WatchEvent,
  target: Target,
): Generator<Observation, void, undefined> {
  // A single connection never begins again.
  if (event.type === 'RESTART') return;
  if (event.type === 'BOOKMARK') {
    yield { kind: 'mark', object: null, version: event.resourceVersion };
  } else if (isOf(target, event.object)) {
    const { resourceVersion: version } = event.object.metadata;
    const object = event.type === 'DELETED' ? null : keep(event.object);
    yield { kind: 'change', object, version };
  }
}
