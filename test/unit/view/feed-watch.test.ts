// The numbers of feeds, look after look.
import { expect, test } from 'vitest';
import type { Plane } from '../../../knative/try/local/plane/plane.ts';
import { FeedWatch } from '../../../knative/try/local/view/feed-watch.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';

const plane = { part: () => ({}) } as unknown as Plane;
const metadata = { name: 'cluster', uid: 'u', resourceVersion: '1' };
const feed = { apiVersion: 'ballast.dev/v1alpha1', kind: 'MetadataFeed', metadata };
const kube = { list: async () => ({ items: [feed] }) } as unknown as KubeClient;

/** The version that is shown after each look; undefined where NATS does not answer. */
async function shownAfter(...sequences: readonly (number | undefined)[]) {
  const left = [...sequences];
  const peek = {
    lastSequence: async () => {
      const next = left.shift();
      if (next === undefined) throw new Error('away');
      return next;
    },
    close: async () => undefined,
  };
  const watch = new FeedWatch(plane, kube, peek);
  const shown: (number | undefined)[] = [];
  for (const _ of sequences) shown.push((await watch.observe())[0]?.version.total);
  await watch.close();
  return shown;
}

test('the version is that of the stream that is there, not a sum over streams', async () => {
  expect(await shownAfter(100, 3, 5)).toEqual([100, 3, 5]);
});

test('while NATS is away the last version stays', async () => {
  expect(await shownAfter(100, undefined)).toEqual([100, 100]);
});
