// The feed of the whole cluster as one of its readers sees it, beside what the API server has.
import { inject } from 'vitest';
import { natsUrlOfPlane } from '../../../../knative/try/local/watch/address.ts';
import { expectedPicture, readFeed } from '../../../../knative/try/local/watch/expected.ts';
import { verify } from '../../../../knative/try/local/watch/verify.ts';
import {
  type EventCounts,
  METADATA_FEEDS,
  type MetadataFeedStatus,
} from '../../../../shared/api/metadata-feed.ts';
import { systemClock } from '../../../../shared/clock.ts';
import { type Replica, openReplica } from '../../../../shared/nats/replica/replica.ts';
import type { Rig } from './rig.ts';

export const OURS = 'ballast-system';

const FEED = 'cluster';
/** Two sweeps, on a machine that is busy with the test itself. */
const EXACT_WITHIN_MS = 150_000;
const LOOK_EVERY_MS = 500;

export class ShownFeed {
  readonly #rig: Rig;
  readonly #reader: Replica;

  private constructor(rig: Rig, reader: Replica) {
    this.#rig = rig;
    this.#reader = reader;
  }

  static async open(rig: Rig): Promise<ShownFeed> {
    const url = await natsUrlOfPlane(inject('clusterDir'));
    return new ShownFeed(rig, openReplica({ url, feed: FEED, scope: 'cluster' }));
  }

  /**
   * The differences from the API server that are left when its time is over. `sweep` runs between
   * two comparisons: only a sweep finds a change whose event was lost.
   */
  async differences(sweep = (): Promise<void> => Promise.resolve()): Promise<readonly string[]> {
    const { kube } = this.#rig;
    const signal = AbortSignal.timeout(EXACT_WITHIN_MS);
    const feed = await readFeed(kube, FEED, signal);
    const { differences, objects } = await verify(
      this.#reader,
      {
        expected: (until) => expectedPicture(kube, feed, 'cluster', until),
        withinMs: EXACT_WITHIN_MS,
        pause: async () => {
          await sweep();
          await systemClock.sleep(LOOK_EVERY_MS);
        },
        progress: () => undefined,
      },
      signal,
    );
    return objects > 0 ? differences : ['the API server has no objects'];
  }

  shows(resource: string, namespace: string, name: string): boolean {
    const found = this.#reader.catalog.select({ resource, namespace });
    return [...found].some(({ key }) => key.name === name);
  }

  /** When the last sweep ended. */
  async sweptAt(): Promise<string | undefined> {
    return (await this.#status()).sweptAt;
  }

  async counts(): Promise<EventCounts> {
    const { events } = await this.#status();
    if (events === undefined) throw new Error(`the feed ${FEED} has counted nothing yet`);
    return events;
  }

  close(): Promise<void> {
    return this.#reader.close();
  }

  async #status(): Promise<Partial<MetadataFeedStatus>> {
    const feed = await this.#rig.kube.get(METADATA_FEEDS, { namespace: OURS, name: FEED });
    return feed?.['status'] ?? {};
  }
}
