// What an instance keeps of one feed while it is awake: its stream, which epoch the stream is in,
// and what was counted since the last sweep. All of it may be lost.
import type { EventCounts } from '../../shared/api/metadata-feed.ts';
import { type Marker, decodeMarker } from '../../shared/feed/messages.ts';
import { MARKER_SUBJECT } from '../../shared/feed/subjects.ts';
import type { AccessSource } from '../../shared/nats/access.ts';
import { Slots } from '../../shared/function/slots.ts';
import { Stream } from '../../shared/nats/stream.ts';
import { type Feed, streamSettings } from './feed.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { LatestAbsences, PublishedCache } from './session-cache.ts';

/** The NATS of a feed, and the way into it. */
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
  /** 0 when there is none. */
  readonly sequence: number;
  readonly marker: Marker | undefined;
}

export class Session {
  /** As it was last read; its spec never changes within a session. */
  feed: Feed;
  readonly stream: Stream;
  readonly nats: FeedNats;
  #counts = noCounts();
  #marker: StoredMarker | undefined;
  #sweeping: Promise<void> | undefined;
  readonly recent = new PublishedCache();
  /** Pages of lists that are in memory: each may take 60 MB while it is parsed, and 10 after. */
  readonly listing = new Slots(2);
  /** Parts of the stream that are looked at: of each a page's worth is in memory. */
  readonly looking = new Slots(2);
  /** Single objects that are asked about: each may have 12 MiB. */
  readonly asking = new Slots(4);
  /**
   * Of these, events that claim to be newer than what the API server has at hand: whoever makes
   * such claims up leaves the other places to the rest.
   */
  readonly insisting = new Slots(2);
  readonly absences = new LatestAbsences();

  constructor(feed: Feed, nats: FeedNats) {
    this.feed = feed;
    this.nats = nats;
    this.stream = new Stream({ ...nats, name: FIELD_MANAGER }, streamSettings(feed));
  }

  get counts(): Counts {
    return this.#counts;
  }

  /** What was counted so far, for whoever writes it down; counting begins again. */
  takeCounts(): Counts {
    const taken = this.#counts;
    this.#counts = noCounts();
    return taken;
  }

  /** As it was last seen; read when it was not seen yet. */
  async marker(signal: AbortSignal): Promise<StoredMarker> {
    return this.#marker ?? this.readMarker(signal);
  }

  /** As it is now. */
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

  /** After anything that did not go as expected: the stream may be another one by now. */
  forgetMarker(): void {
    this.#marker = undefined;
    this.recent.clear();
  }

  /** One sweep at a time: who comes meanwhile gets what the running one ends with. */
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
