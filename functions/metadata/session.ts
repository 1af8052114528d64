// The memory of one instance about one feed: its stream, its epoch, and counts since the last
// sweep. All of it may be lost.
import type { EventCounts } from '../../shared/api/metadata-feed.ts';
import { type Marker, decodeMarker } from '../../shared/feed/messages.ts';
import { MARKER_SUBJECT } from '../../shared/feed/subjects.ts';
import type { AccessSource } from '../../shared/nats/access.ts';
import { Slots } from '../../shared/function/slots.ts';
import { Stream } from '../../shared/nats/stream.ts';
import { type Feed, streamSettings } from './feed.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import type { LastScan, SweepMoment } from './last-scan.ts';
import { LatestAbsences, PublishedCache } from './session-cache.ts';

/** The address of a feed's NATS, and the credentials for it. */
export interface FeedNats {
  readonly url: string;
  readonly access: AccessSource;
}

export type Counts = { -readonly [Name in keyof EventCounts]: number };

const noCounts = (): Counts => ({
  received: 0,
  published: 0,
  unchanged: 0,
  overtaken: 0,
  healed: 0,
  unfounded: 0,
  oversize: 0,
});

export interface StoredMarker {
  /** 0 when there is no marker. */
  readonly sequence: number;
  readonly marker: Marker | undefined;
}

export class Session {
  /** The feed as it was last read. A session ends when the spec changes. */
  feed: Feed;
  readonly stream: Stream;
  readonly nats: FeedNats;
  #counts = noCounts();
  #marker: StoredMarker | undefined;
  #sweeping: Promise<void> | undefined;
  #lastScan: LastScan | undefined;
  readonly publishedCache = new PublishedCache();
  /** Pages of lists in memory: each may take 60 MB while it is parsed, and 10 MB after. */
  readonly listSlots = new Slots(2);
  /** Reads of many messages: each holds as much as a page of a list. */
  readonly readSlots = new Slots(2);
  /** Reads of single objects: each may have 12 MiB. */
  readonly liveReadSlots = new Slots(4);
  /**
   * Consistent reads among these. Only events that claim to be newer than the watch cache need one,
   * and a sender who makes such claims up leaves the other slots free.
   */
  readonly latestReadSlots = new Slots(2);
  readonly latestAbsences = new LatestAbsences();

  constructor(feed: Feed, nats: FeedNats) {
    this.feed = feed;
    this.nats = nats;
    this.stream = new Stream({ ...nats, name: FIELD_MANAGER }, streamSettings(feed));
  }

  get counts(): Counts {
    return this.#counts;
  }

  /** The counts so far, for the status. Counting starts again at 0. */
  takeCounts(): Counts {
    const before = this.#counts;
    this.#counts = noCounts();
    return before;
  }

  /** The marker as it was last read; reads it the first time. */
  async marker(signal: AbortSignal): Promise<StoredMarker> {
    return this.#marker ?? this.readMarker(signal);
  }

  /** Reads the marker. */
  async readMarker(signal: AbortSignal): Promise<StoredMarker> {
    const subject = `${this.feed.prefix}.${MARKER_SUBJECT}`;
    const message = (await this.stream.last([subject], signal)).get(subject);
    this.#marker =
      message === undefined
        ? { sequence: 0, marker: undefined }
        : { sequence: message.sequence, marker: decodeMarker(message.data) };
    return this.#marker;
  }

  noteMarker(marker: StoredMarker): void {
    this.#marker = marker;
  }

  /** Called after any failure: the stream may be another one by now. */
  forgetMarker(): void {
    this.#marker = undefined;
    this.publishedCache.clear();
  }

  /** Called when a sweep has succeeded. */
  noteLastScan(scan: LastScan | undefined): void {
    this.#lastScan = scan;
  }

  /** Taken for good: a sweep that fails leaves none, and the next one trusts only the status. */
  takeLastScan(sweep: SweepMoment): LastScan | undefined {
    const before = this.#lastScan;
    this.#lastScan = undefined;
    return before?.holds(sweep, this.feed.spec.retention.tombstoneSeconds) === true
      ? before
      : undefined;
  }

  /** One sweep at a time. A caller who comes during a sweep shares its result. */
  sweepOnce(run: () => Promise<void>): Promise<void> {
    this.#sweeping ??= run().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async close(): Promise<void> {
    await this.stream.close();
  }
}
