// One control plane for the tests of a file, that of its lane unless it brings another, and for
// each test a feed of its own on it.
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import type { Stream } from '../../../shared/nats/stream.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { removeAllPods } from './objects.ts';
import { AT_THEIR_WORD, FeedWorld, type Sender } from './world.ts';

export interface FeedOfOneTest {
  readonly world: FeedWorld;
  /** Its name; nobody has made it yet. */
  readonly feed: string;
  readonly stream: Stream;
}

export function withFeedEach(
  begin: (given: FeedOfOneTest) => Promise<void>,
  plane: () => PlaneAddress = sharedPlane,
): void {
  let world: FeedWorld | undefined;
  let feed = '';
  let number = 0;

  beforeAll(async () => {
    world = await FeedWorld.on(plane());
  });

  afterAll(async () => {
    await world?.stop();
  });

  beforeEach(async () => {
    if (world === undefined) throw new Error('there is no control plane');
    number += 1;
    feed = `f${number}`;
    await begin({ world, feed, stream: world.stream(feed) });
  });

  afterEach(async () => {
    await world?.stopFunctions();
    await world?.removeFeed(feed);
    if (world !== undefined) await removeAllPods(world.kube);
  });
}

/** A feed that a function has swept once, which takes events at their word. */
export function withSweptFeedEach(
  begin: (given: FeedOfOneTest & { readonly sender: Sender }) => void,
): void {
  withFeedEach(async (given) => {
    await given.world.createFeed(given.feed);
    const sender = await given.world.startFunction(AT_THEIR_WORD);
    await sender.sweep();
    begin({ ...given, sender });
  });
}
