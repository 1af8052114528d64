// Observes the feeds of a running plane: their versions, readers and sweeps. A part that does not
// answer in time keeps its last numbers.
import { METADATA_FEEDS } from '../../../../shared/api/metadata-feed.ts';
import { streamName } from '../../../../shared/feed/subjects.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import { Peek } from '../../../../shared/nats/peek.ts';
import type { Plane } from '../plane/plane.ts';
import { countReaders } from './feed-readers.ts';
import { type FeedView, feedViewOf } from './feed-view.ts';
import { Rates } from './rates.ts';

const NATS = 'nats-server';
const LOOK_TIMEOUT_MS = 500;
/** Statuses change with a sweep, readers come and go: neither needs a look each second. */
const SLOWLY_EVERY_MS = 5_000;

export class FeedWatch {
  readonly #plane: Pick<Plane, 'part'>;
  readonly #kube: Pick<KubeClient, 'list'>;
  readonly #peek: Pick<Peek, 'lastSequence' | 'close'>;
  readonly #versions = new Rates();
  #feeds: readonly KubeObject[] = [];
  #readers: ReadonlyMap<string, number> = new Map();
  #lookedSlowlyMs = -Infinity;

  /** `peek` looks at the streams of the plane's NATS. */
  constructor(
    plane: Pick<Plane, 'part'>,
    kube: Pick<KubeClient, 'list'>,
    peek: Pick<Peek, 'lastSequence' | 'close'> = new Peek({
      url: plane.part(NATS).url,
      name: 'ballast-local',
    }),
  ) {
    this.#plane = plane;
    this.#kube = kube;
    this.#peek = peek;
  }

  async observe(): Promise<readonly FeedView[]> {
    const nowMs = Date.now();
    const signal = AbortSignal.timeout(LOOK_TIMEOUT_MS);
    if (nowMs - this.#lookedSlowlyMs > SLOWLY_EVERY_MS) {
      this.#lookedSlowlyMs = nowMs;
      await this.#lookSlowly(signal);
    }
    const read = this.#feeds.map(async ({ metadata }): Promise<[string, number] | undefined> => {
      // A server that is away is shown as dead elsewhere; here the last number stays.
      const last = this.#peek.lastSequence(streamName(metadata.name), signal);
      return last.then(
        (version) => [metadata.name, version],
        () => undefined,
      );
    });
    const found = (await Promise.all(read)).filter((entry) => entry !== undefined);
    const versions = this.#versions.read(nowMs, new Map(found));
    return this.#feeds.map((feed) => {
      const { name } = feed.metadata;
      const total = this.#versions.lastRead(name) ?? 0;
      const counted = versions.get(name);
      return feedViewOf(feed, counted && { ...counted, total }, this.#readers, nowMs);
    });
  }

  async close(): Promise<void> {
    await this.#peek.close();
  }

  async #lookSlowly(signal: AbortSignal): Promise<void> {
    const monitor = this.#plane.part(NATS).monitorUrl;
    const [list, readers] = await Promise.all([
      this.#kube.list(METADATA_FEEDS, { signal }).catch(() => undefined),
      monitor === undefined ? undefined : countReaders(monitor, signal),
    ]);
    this.#feeds = list?.items ?? this.#feeds;
    this.#readers = readers ?? this.#readers;
  }
}
