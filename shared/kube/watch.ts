// A watch that lasts: after every cut it goes on from the last resourceVersion, until the caller
// ends it. Once the API server has forgotten that version, a watch with initial events begins again
// (RESTART), and any other throws KUBE_EXPIRED, which the caller meets with a new list. It reads
// only as fast as it is read: a slow reader slows the API server down and fills no memory.
import type { Clock } from '../clock.ts';
import { Failure } from '../errors.ts';
import type { Calls } from './calls.ts';
import type { KubeLog } from './log.ts';
import type { Pool } from './connection.ts';
import { errorFromAnswer, errorFromTransport, isKubeError, readStatus } from './errors.ts';
import { describeNotJson, isRecord, parseLossless } from './json.ts';
import { LINE_BYTES_MAX, readLines, refuseAbove } from './lines.ts';
import type { KubeObject, ResourceRef } from './objects.ts';
import { type Query, resourcePath } from './paths.ts';
import { aboutSelection, type Selection } from './reads.ts';
import type { AboutResource } from './request.ts';
import { pauseMs } from './retry.ts';
import { Skim } from './skim.ts';
import { skimPaths, skimmedObject } from './skimmed.ts';

export interface WatchOptions extends Selection {
  /**
   * After a resourceVersion; or `initial-events`: every object that there is comes as ADDED, then
   * a bookmark with `isInitialEventsEnd`, then what changes.
   */
  readonly from: { readonly resourceVersion: string } | 'initial-events';
  /**
   * Ends the watch after this time. When its last event is a BOOKMARK, every change up to that
   * resourceVersion was seen; the API server sends one within the last seconds, unless it knows of
   * nothing newer than the start.
   */
  readonly timeoutSeconds?: number;
  /**
   * Only the identity of a heavier object is read, and the event says so. Without this option an
   * object beyond 16 MiB ends the watch, and comes again with the next.
   */
  readonly skimAboveBytes?: number;
  /**
   * Takes each change as it is read, once. The event that follows has nothing of the object but its
   * identity, so that no large object waits with it.
   */
  readonly take?: (change: Change) => void;
  /** Ends the watch with the signal's reason. */
  readonly signal: AbortSignal;
}

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
  /** Nothing of the object is there but who it is. */
  readonly isSkimmed?: true;
}

export type WatchEvent =
  | Change
  | {
      readonly type: 'BOOKMARK';
      readonly resourceVersion: string;
      readonly isInitialEventsEnd: boolean;
    }
  /** Initial events come again from the start: what came so far is void once they are complete. */
  | { readonly type: 'RESTART' };

export interface WatchWiring {
  readonly calls: Calls;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: KubeLog | undefined;
}

/**
 * Within this time, times one to two, every watch moves to a new connection, and so to API
 * servers that came up.
 */
const RENEW_SECONDS = 300;
/** The API server ends a watch to the second; before that it ended for another reason. */
const END_TOLERANCE_MS = 1_000;

export async function* watchResource(
  wiring: WatchWiring,
  ref: ResourceRef,
  options: WatchOptions,
): AsyncGenerator<WatchEvent, void, undefined> {
  const position = new Position(options);
  const endsAtMs = wiring.clock.nowMs() + (options.timeoutSeconds ?? Infinity) * 1000;
  for (let attempt = 0; ; attempt += 1) {
    const secondsLeft = Math.ceil((endsAtMs - wiring.clock.nowMs()) / 1000);
    let setback: Failure | undefined;
    try {
      for await (const event of oneStream(wiring, ref, options, position, secondsLeft, 'watch')) {
        attempt = 0;
        yield event;
      }
      if (wiring.clock.nowMs() >= endsAtMs - END_TOLERANCE_MS) return;
    } catch (error) {
      setback = passing(error, options.signal, position);
      if (wiring.clock.nowMs() >= endsAtMs) throw setback;
    }
    if (position.startAgain()) yield { type: 'RESTART' };
    const waitMs = pauseMs(attempt, wiring.random, setback?.retryAfterMs);
    if (setback !== undefined) {
      const { code, object, message } = setback;
      wiring.log?.warn({ code, object, detail: message, waitMs, attempt }, 'Watch goes on');
      wiring.calls.noteRetry(aboutSelection('watch', ref, options), setback);
    }
    await wiring.clock.sleep(waitMs, options.signal);
  }
}

/**
 * One answer of a watch, on a connection that others share: it ends when the API server ends it,
 * and throws what else ends it. For those who look anew after every cut instead of going on.
 */
export function watchOnce(
  wiring: WatchWiring,
  ref: ResourceRef,
  options: WatchOptions,
): AsyncGenerator<WatchEvent, void, undefined> {
  const { timeoutSeconds = Infinity } = options;
  return oneStream(wiring, ref, options, new Position(options), timeoutSeconds, 'shared-watch');
}

/**
 * Where the watch stands: the last version that it saw, and whether the initial events are
 * complete.
 */
class Position {
  resourceVersion: string;
  readonly #hasInitialEvents: boolean;
  #isComplete: boolean;
  #hasBegun = false;

  constructor({ from }: WatchOptions) {
    this.resourceVersion = from === 'initial-events' ? '' : from.resourceVersion;
    this.#hasInitialEvents = from === 'initial-events';
    this.#isComplete = !this.#hasInitialEvents;
  }

  get query(): Query {
    const { resourceVersion } = this;
    if (this.#isComplete) return { resourceVersion };
    return { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
  }

  note(event: WatchEvent): void {
    this.#hasBegun = true;
    if (event.type === 'RESTART') return;
    const isBookmark = event.type === 'BOOKMARK';
    // Initial events come in the order of names, so their versions are no place to go on from.
    if (isBookmark && event.isInitialEventsEnd) this.#isComplete = true;
    this.resourceVersion = isBookmark
      ? event.resourceVersion
      : event.object.metadata.resourceVersion;
  }

  /** After an expiry: true when the watch can begin again by itself, with its initial events. */
  forget(): boolean {
    if (this.#hasInitialEvents) this.#isComplete = false;
    return this.#hasInitialEvents;
  }

  /** True when initial events that were already given out have to come again. */
  startAgain(): boolean {
    if (this.#isComplete || !this.#hasBegun) return false;
    this.#hasBegun = false;
    return true;
  }
}

async function* oneStream(
  { calls, random }: WatchWiring,
  ref: ResourceRef,
  options: WatchOptions,
  position: Position,
  secondsLeft: number,
  pool: Pool,
): AsyncGenerator<WatchEvent, void, undefined> {
  const { namespace, labelSelector, fieldSelector, signal } = options;
  const about = aboutSelection('watch', ref, options);
  const timeoutSeconds = Math.min(secondsLeft, Math.round(RENEW_SECONDS * (1 + random())));
  const body = await calls.open(
    {
      about,
      method: 'GET',
      path: resourcePath(ref, { namespace }),
      query: {
        watch: true,
        allowWatchBookmarks: true,
        labelSelector,
        fieldSelector,
        timeoutSeconds: Math.max(1, timeoutSeconds),
        ...position.query,
      },
      repeat: 'always',
    },
    signal,
    pool,
  );
  try {
    for await (const event of eventsIn(calls, about, body, options)) {
      position.note(event);
      yield event;
    }
  } catch (cause) {
    if (signal.aborted || isKubeError(cause)) throw cause;
    throw errorFromTransport(about, cause);
  }
}

/** Failures that a pause and another attempt may cure; throws everything else. */
function passing(error: unknown, signal: AbortSignal, position: Position): Failure {
  signal.throwIfAborted();
  if (isKubeError(error, 'KUBE_EXPIRED') && position.forget()) return error;
  if (isKubeError(error, 'KUBE_UNAVAILABLE', 'KUBE_TIMEOUT', 'KUBE_THROTTLED')) return error;
  // A file of credentials may be half written.
  if (error instanceof Failure && error.code === 'KUBE_ACCESS_UNREADABLE') return error;
  throw error;
}

function eventsIn(
  calls: Calls,
  about: AboutResource,
  body: AsyncIterable<Uint8Array>,
  { skimAboveBytes, take }: Pick<WatchOptions, 'skimAboveBytes' | 'take'>,
): AsyncGenerator<WatchEvent, void, undefined> {
  const makeSkim = (): Skim => new Skim(['type', ...skimPaths('object')]);
  const read = (line: string | Skim): WatchEvent => {
    const event =
      typeof line === 'string' ? parseEvent(calls, about, line) : skimmedEvent(about, line);
    if (take === undefined || !('object' in event)) return event;
    take(event);
    return { ...event, object: identityOf(event.object) };
  };
  if (skimAboveBytes !== undefined) {
    return readLines(body, { bytesMax: skimAboveBytes, makeSkim, read });
  }
  return readLines(body, { bytesMax: LINE_BYTES_MAX, makeSkim: refuseAbove(LINE_BYTES_MAX), read });
}

const identityOf = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => {
  const { name, namespace, uid, resourceVersion } = metadata;
  const space = namespace === undefined ? {} : { namespace };
  return { apiVersion, kind, metadata: { name, ...space, uid, resourceVersion } };
};

function skimmedEvent(about: AboutResource, { found }: Skim): WatchEvent {
  const type = found.get('type');
  const object = skimmedObject('object', Object.fromEntries(found), { apiVersion: '', kind: '' });
  const isKnown = type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED';
  if (isKnown && object !== undefined) return { type, object, isSkimmed: true };
  throw errorFromTransport(about, new Error('a line of a size that no event has'));
}

function parseEvent(calls: Calls, about: AboutResource, line: string): WatchEvent {
  const { type, object } = parseLine(about, line);
  if (type === 'ERROR') {
    const code = typeof object['code'] === 'number' ? object['code'] : 500;
    throw errorFromAnswer(about, readStatus(code, JSON.stringify(object)));
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an event's object
  const sent = calls.heard(about, object) as KubeObject;
  if (type === 'BOOKMARK') {
    const { resourceVersion, annotations } = sent.metadata;
    const isInitialEventsEnd = annotations?.['k8s.io/initial-events-end'] === 'true';
    return { type, resourceVersion, isInitialEventsEnd };
  }
  if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') return { type, object: sent };
  throw errorFromTransport(about, new Error(`an event of the unknown type ${type}`));
}

function parseLine(
  about: AboutResource,
  line: string,
): { type: string; object: Record<string, unknown> } {
  try {
    const event = parseLossless(line);
    if (isRecord(event) && typeof event['type'] === 'string' && isRecord(event['object'])) {
      return { type: event['type'], object: event['object'] };
    }
  } catch (error) {
    throw errorFromTransport(about, new Error(`a line of ${describeNotJson(line, error)}`));
  }
  throw errorFromTransport(about, new Error('a line that is not an event'));
}
