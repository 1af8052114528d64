// Follows one feed: subscribes first, catches up from the stream, then applies what comes live; and
// does it all again whenever something may have been missed. It never gives up, and never waits for
// whoever reads the replica.
import type { Clock } from '../../clock.ts';
import { type Marker, decodeFloor, decodeMarker } from '../../feed/messages.ts';
import { FLOOR_SUBJECT, MARKER_SUBJECT } from '../../feed/subjects.ts';
import { orAbort } from '../../or-abort.ts';
import { Healing } from './healing.ts';
import type { Holdings } from './holdings.ts';
import type { Ledgers } from './ledgers.ts';
import { type BufferLimits, LiveBuffer } from './live-buffer.ts';
import { Pauses } from './pauses.ts';
import type { Progress } from './progress.ts';
import { readAll } from './read-all.ts';
import type { LiveMessage, Source } from './source.ts';
import type { StoredMessage } from './page.ts';
import type { Phase, StateBoard } from './state.ts';
import type { Sweeps } from './sweeps.ts';

export interface FollowerOptions {
  readonly filters: readonly string[];
  readonly holdings: Holdings;
  readonly ledgers: Ledgers;
  readonly progress: Progress;
  readonly board: StateBoard;
  readonly sweeps: Sweeps;
  readonly clock: Clock;
  readonly bufferLimits?: BufferLimits | undefined;
  readonly onMarker: (marker: Marker) => void;
  readonly warn: (fields: object, message: string) => void;
}

/** All that following needs of a source. */
type FeedSource = Pick<Source, 'open' | 'last' | 'read' | 'readAtMs'>;

/**
 * The marker comes live, too. Looking for it helps when its message was lost, or when NATS has just
 * started and does not know its streams yet.
 */
const MARKER_PAUSES = { firstMs: 500, longestMs: 10_000 };
/** NATS answers again within seconds of a restart; a refusal lasts until somebody changes it. */
const RETRY_PAUSES = { firstMs: 200, longestMs: 10_000 };
/** A reader that was live for this long may catch up at once. */
const CALM_MS = 2_000;

export class Follower {
  readonly counts = { snapshots: 0, resumes: 0, gaps: 0, overflows: 0, disconnects: 0, heals: 0 };
  readonly #options: FollowerOptions;
  readonly #progress: Progress;
  readonly #buffer: LiveBuffer;
  readonly #markerPauses: Pauses;
  readonly #retryPauses: Pauses;
  readonly #healing: Healing;
  readonly #closed = new AbortController();
  #mode: 'idle' | 'buffering' | 'live' = 'buffering';
  #mustSnapshot = false;
  #isInterrupted = false;
  #interruption = Promise.withResolvers<void>();
  #attempt = new AbortController();

  constructor(options: FollowerOptions) {
    const { clock, ledgers } = options;
    this.#options = options;
    this.#progress = options.progress;
    this.#buffer = new LiveBuffer(options.bufferLimits);
    this.#markerPauses = new Pauses(clock, MARKER_PAUSES);
    this.#retryPauses = new Pauses(clock, RETRY_PAUSES);
    this.#healing = new Healing(ledgers, clock, () => this.#heal());
  }

  async run(source: FeedSource): Promise<void> {
    const closed = this.#closed.signal;
    while (!closed.aborted) {
      this.#attempt = new AbortController();
      const attempt = AbortSignal.any([closed, this.#attempt.signal]);
      try {
        await this.#follow(source, attempt);
      } catch (cause) {
        if (closed.aborted) return;
        this.#show('connecting', { why: cause instanceof Error ? cause.message : String(cause) });
        this.#mode = 'buffering';
        if (!attempt.aborted) {
          this.#options.warn({ err: cause }, 'following the feed failed; it is tried again');
        }
        await this.#retryPauses.next(closed).catch(() => undefined);
      }
    }
  }

  close(): void {
    this.#options.sweeps.close();
    this.#closed.abort(new Error('the replica was closed'));
  }

  /** Live messages may be lost from here on. */
  onLost(why: string): void {
    this.counts.disconnects += 1;
    this.#progress.lostConnection();
    this.#interrupt();
    this.#attempt.abort(new Error(why));
    this.#show('connecting', { why });
  }

  onForeign(): void {
    this.#options.holdings.sawForeign();
  }

  onMessage(message: LiveMessage): void {
    // Also one that has to wait until it is applied: it says that somebody sweeps.
    const isFloor = message.subject === FLOOR_SUBJECT && decodeFloor(message.data) !== undefined;
    if (isFloor) this.#options.sweeps.heard();
    if (this.#mode === 'live' && this.#isInOrder(message, this.#progress.version)) {
      return this.#applyLive(message);
    }
    if (this.#mode === 'buffering') this.#buffer.push(message);
    else if (message.subject === MARKER_SUBJECT) this.#interrupt();
  }

  /** From being connected to the next time that something may have been missed. */
  async #follow(source: FeedSource, signal: AbortSignal): Promise<void> {
    await source.open(signal);
    this.#isInterrupted = false;
    this.#interruption = Promise.withResolvers();
    this.#mode = 'buffering';
    const stored = await source.last(MARKER_SUBJECT, signal);
    const marker = stored === undefined ? undefined : decodeMarker(stored.data);
    if (marker?.ready === true) {
      await this.#catchUp(source, marker, signal);
      this.#markerPauses.reset();
      return this.#stayLive(signal);
    }
    this.#mode = 'idle';
    this.#buffer.take();
    if (marker !== undefined) this.#options.sweeps.areDue(marker);
    const unread =
      stored === undefined
        ? 'there is no such feed yet, or this account does not import it'
        : 'its marker is not of format 1';
    this.#show('waiting', { why: marker === undefined ? unread : 'the feed is being filled' });
    const poll = this.#markerPauses.next(signal);
    await Promise.race([poll, orAbort(this.#interruption.promise, signal)]);
  }

  /** Follows until something may have been missed. Repeated interruptions are slowed down. */
  async #stayLive(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const sinceMs = clock.nowMs();
    const isCalm = (): boolean => clock.nowMs() - sinceMs >= CALM_MS;
    try {
      await orAbort(this.#interruption.promise, signal);
    } finally {
      if (isCalm()) this.#retryPauses.reset();
    }
    if (!isCalm()) await this.#retryPauses.next(signal);
  }

  async #catchUp(source: FeedSource, marker: Marker, signal: AbortSignal): Promise<void> {
    const progress = this.#progress;
    const floor = await source.last(FLOOR_SUBJECT, signal);
    progress.floor = floor === undefined ? undefined : decodeFloor(floor.data)?.version;
    this.#options.onMarker(marker);
    if (progress.isOther(marker)) {
      progress.startOver(marker.id);
      // Messages so far belong to the stream before, or will be read again.
      this.#buffer.take();
    }
    this.#options.ledgers.startCatchingUp();
    const isSnapshot = this.#mustSnapshot || !progress.canResume;
    if (isSnapshot) this.#options.holdings.startSnapshot();
    this.#show('catching-up');
    let from = isSnapshot ? undefined : progress.version + 1;
    let reached = progress.version;
    for (;;) {
      reached = Math.max(reached, await this.#read(source, from, signal));
      // A full buffer holds an unbroken run; what came after it is read from the stream.
      const isWhole = !this.#buffer.isOverfull;
      if (isWhole) this.#mode = 'live';
      else this.counts.overflows += 1;
      reached = this.#applyBuffer(reached);
      if (this.#isInterrupted) return;
      if (isWhole) {
        const ageMs = floor === undefined ? Infinity : source.readAtMs - floor.storedAtMs;
        this.#options.sweeps.found(ageMs);
        return this.#finish(isSnapshot, reached);
      }
      from = reached + 1;
    }
  }

  async #read(source: FeedSource, from: number | undefined, signal: AbortSignal): Promise<number> {
    const options = {
      filters: this.#options.filters,
      fromSequence: from,
      take: (message: StoredMessage) => this.#progress.applyStored(message),
      onLeft: (behind: number) => this.#show('catching-up', { behind }),
    };
    return readAll(source, options, signal);
  }

  /** Answers up to where everything has been applied then; it was so up to `reached`. */
  #applyBuffer(reached: number): number {
    let newest = reached;
    for (const message of this.#buffer.take()) {
      if (!this.#isInOrder(message, newest)) return newest;
      this.#apply(message);
      if (this.#isInterrupted) return newest;
      newest = Math.max(newest, message.sequence);
    }
    return newest;
  }

  #finish(isSnapshot: boolean, reached: number): void {
    if (isSnapshot) {
      this.counts.snapshots += 1;
      this.#mustSnapshot = false;
      this.#options.holdings.finishSnapshot(reached);
      this.#options.ledgers.tookSnapshot();
      this.#healing.tookSnapshot(reached);
    } else this.counts.resumes += 1;
    this.#progress.caughtUp(reached);
    this.#healing.consider(this.#closed.signal);
    this.#show('current');
  }

  /** Looks whether anything before it is missing, and if so, begins to catch up. */
  #isInOrder(message: LiveMessage, version: number): boolean {
    const goesBack = this.#progress.goesBack(message);
    if (!goesBack && !this.#progress.showsGap(message, version)) return true;
    this.counts.gaps += 1;
    if (goesBack) this.#startFromSnapshot();
    else this.#interrupt();
    return false;
  }

  #applyLive(message: LiveMessage): void {
    try {
      this.#apply(message);
    } catch (cause) {
      // Thrown on, it would end the client's connection.
      this.#options.warn({ err: cause }, 'a message could not be applied; the snapshot is taken');
      this.#startFromSnapshot();
    }
    if (this.#isInterrupted) return;
    this.#progress.reached(message.sequence);
    this.#show('current');
  }

  #apply(message: LiveMessage): void {
    const marker = this.#progress.applyLive(message);
    this.#healing.consider(this.#closed.signal);
    if (marker === undefined) return;
    const isSame = marker !== 'unreadable' && marker.ready && !this.#progress.isOther(marker);
    if (isSame) this.#options.onMarker(marker);
    else this.#interrupt();
  }

  #heal(): void {
    this.counts.heals += 1;
    this.#options.holdings.forgetSequences();
    this.#mustSnapshot = true;
    this.#interrupt();
  }

  #startFromSnapshot(): void {
    this.#progress.forget();
    this.#mustSnapshot = true;
    this.#interrupt();
  }

  #interrupt(): void {
    const wasLive = this.#mode === 'live';
    if (this.#mode !== 'buffering') this.#buffer.take();
    this.#mode = 'buffering';
    if (wasLive) this.#show('catching-up');
    this.#isInterrupted = true;
    this.#interruption.resolve();
  }

  #show(phase: Phase, more: { readonly behind?: number; readonly why?: string } = {}): void {
    const { difference, verified } = this.#options.ledgers;
    const { version, verifiedAtMs } = this.#progress;
    const isWrong = difference !== undefined && (phase === 'current' || phase === 'catching-up');
    this.#options.board.set({
      phase: isWrong ? 'wrong' : phase,
      version,
      ...more,
      ...(isWrong ? { why: difference.why } : {}),
      ...(verified === 0 ? {} : { verifiedVersion: verified }),
      ...(verifiedAtMs === undefined ? {} : { verifiedAtMs }),
    });
  }
}
