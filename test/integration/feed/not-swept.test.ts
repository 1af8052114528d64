// A function that is dead cannot say so: somebody else turns what it said last to Unknown, and it
// takes its status back as soon as it lives.
import { expect, test } from 'vitest';
import { deadLetters } from '../../../functions/dead-letters/index.ts';
import { METADATA_FEEDS } from '../../../shared/api/metadata-feed.ts';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { withSweptFeedEach } from './each.ts';
import { FEED_NAMESPACE, type FeedWorld, type Sender } from './world.ts';

let world: FeedWorld;
let feed = '';
let sender: Sender;

withSweptFeedEach((given) => {
  ({ world, feed, sender } = given);
});

/** The function that watches, so many seconds later. */
async function startWatcher(secondsLater: number): Promise<RunningFunction> {
  const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + secondsLater * 1_000 };
  const environment = {
    PORT: '0',
    LOG_LEVEL: 'silent',
    DRAIN_MINIMUM_SECONDS: '0',
    KUBECONFIG: world.plane.kubeconfigPath,
    BROKER_NAMESPACE: FEED_NAMESPACE,
  };
  return startFunction(deadLetters, {
    environment,
    build: { version: '0.0.0', commit: '' },
    clock,
  });
}

async function tickAt(secondsLater: number): Promise<void> {
  const watcher = await startWatcher(secondsLater);
  const own = { 'ce-ballastfunction': 'dead-letters' };
  const answer = await sendEvent(watcher.port, 'dev.knative.sources.ping', {}, own);
  expect(answer.status).toBe(204);
  await watcher.stop();
}

const conditions = async (): Promise<readonly string[]> =>
  ((await world.status(feed)).conditions ?? [])
    .map(({ type, status, reason }) => `${type} ${status} ${reason}`)
    .toSorted();

const versionOf = async (): Promise<string | undefined> => {
  const object = await world.kube.get(METADATA_FEEDS, { namespace: FEED_NAMESPACE, name: feed });
  return object?.metadata.resourceVersion;
};

test('a feed that nobody swept for two periods does not say that it is Ready', async () => {
  const swept = await conditions();
  await tickAt(150);
  expect(await conditions()).toEqual(swept);
  await tickAt(300);
  const stale = ['Degraded False AsExpected', 'InSync Unknown NotSwept', 'Ready Unknown NotSwept'];
  expect(await conditions()).toEqual(stale);
  const version = await versionOf();
  await tickAt(360);
  expect(await versionOf()).toBe(version);
  // It lives again, and nobody speaks against it.
  expect(await sender.sweep()).toBe(204);
  expect(await conditions()).toEqual(swept);
  const versionOfOwner = await versionOf();
  await tickAt(60);
  expect(await versionOf()).toBe(versionOfOwner);
});
