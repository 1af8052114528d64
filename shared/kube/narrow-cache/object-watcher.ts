// One look at one object, as long as its connection lasts: first what there is, then each change.
// In one request where the API server sends initial events, else by a list and a watch from there.
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

/** The first sight is `whole`; `mark` says that nothing else happened up to its version. */
export interface Sight extends Held {
  readonly kind: 'whole' | 'change' | 'mark';
}

interface LookerWiring {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly limits: Pick<Limits, 'answerTimeoutMs'>;
}

/** Looks at one object again and again, in the way that its API server understands. */
export class Looker {
  readonly #target: Target;
  readonly #wiring: LookerWiring;
  #isListedFirst = false;

  constructor(target: Target, wiring: LookerWiring) {
    this.#target = target;
    this.#wiring = wiring;
  }

  /** One connection, for as long as it lasts; throws what ends it, and when it says nothing. */
  async *look(end: AbortSignal): AsyncGenerator<Sight, void, undefined> {
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
      for await (const sight of this.#sights(isListed, signal)) {
        inTime.abort();
        yield sight;
      }
    } catch (error) {
      if (late.signal.aborted) throw late.signal.reason;
      if (isListed || !isKubeError(error, 'KUBE_INVALID', 'KUBE_BAD_REQUEST')) throw error;
      // It knows no initial events, and says so.
      this.#isListedFirst = true;
      inTime.abort();
      yield* this.look(end);
    } finally {
      inTime.abort();
    }
  }

  #sights(isListed: boolean, signal: AbortSignal): AsyncGenerator<Sight, void, undefined> {
    const { kube, limits } = this.#wiring;
    if (!isListed) return lookByInitialEvents(kube, this.#target, signal);
    return lookByList(kube, this.#target, signal, limits.answerTimeoutMs);
  }

  #giveUp(late: AbortController): void {
    // An API server that knows no initial events may also keep silent about it.
    this.#isListedFirst = !this.#isListedFirst;
    const what = describeObject(this.#target.ref, this.#target);
    const message = `The API server did not say in time what ${what} is. It is asked again.`;
    late.abort(new Failure('KUBE_TIMEOUT', message, { object: what }));
  }
}

async function* lookByInitialEvents(
  kube: Kube,
  target: Target,
  signal: AbortSignal,
): AsyncGenerator<Sight, void, undefined> {
  let found: KubeObject | null = null;
  let isWhole = false;
  const watch = kube.watchOnce(target.ref, {
    ...selection(target),
    from: 'initial-events',
    signal,
  });
  for await (const event of watch) {
    if (isWhole) yield* sightsOf(event, target);
    else if (event.type === 'BOOKMARK' && event.isInitialEventsEnd) {
      isWhole = true;
      yield { kind: 'whole', object: found, version: event.resourceVersion };
      // The cache has the object now; a reference here would outlive its changes.
      found = null;
    } else {
      for (const { kind, object } of sightsOf(event, target)) {
        if (kind === 'change') found = object;
      }
    }
  }
}

async function* lookByList(
  kube: Kube,
  target: Target,
  signal: AbortSignal,
  timeoutMs: number,
): AsyncGenerator<Sight, void, undefined> {
  const first = await listOne(kube, target, { signal, timeoutMs });
  yield { kind: 'whole', ...first };
  const from = { resourceVersion: first.version };
  const watch = kube.watchOnce(target.ref, { ...selection(target), from, signal });
  for await (const event of watch) yield* sightsOf(event, target);
}

function* sightsOf(event: WatchEvent, target: Target): Generator<Sight, void, undefined> {
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
