// Metrics of a feed, by its status: the proof, gaps, and repairs.
import { expect, test } from 'vitest';
import { pino } from 'pino';
import { Deps } from '../../../functions/metadata/deps.ts';
import { type Feed, feedOf } from '../../../functions/metadata/feed.ts';
import { FeedGauges } from '../../../functions/metadata/gauges.ts';
import { sweepDueFeeds } from '../../../functions/metadata/reconciler.ts';
import type { MetadataFeedStatus } from '../../../shared/api/metadata-feed.ts';
import { Failure } from '../../../shared/errors.ts';
import type { Context } from '../../../shared/function/define.ts';
import { Metrics } from '../../../shared/function/metrics.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { NO_ACCESS } from '../../../shared/nats/access.ts';
import { shownMetrics } from '../../builders/shown-metrics.ts';

const BEGIN = 'ballast_metadata_feed_';
const SWEPT = '2026-01-02T00:00:00Z';
const seconds = (time: string): number => Date.parse(time) / 1_000;

const row = (name: string, verifiedAt: string, more: object = {}) => ({
  name,
  resourceVersion: '1',
  objects: 2,
  verifiedAt,
  ...more,
});

const RESOURCES = ['pods', 'nodes'].map((resource) => ({ group: '', version: 'v1', resource }));

const object = (status: MetadataFeedStatus, uid = 'u1') => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'MetadataFeed',
  metadata: { namespace: 'feeds', name: `f-${uid}`, uid, resourceVersion: '1', generation: 1 },
  spec: { resources: RESOURCES, stream: {}, retention: {}, sweepSeconds: 120 },
  status,
});

const feed = (status: MetadataFeedStatus, uid?: string): Feed => feedOf(object(status, uid));

function shown(...feeds: readonly Feed[]): Readonly<Record<string, number>> {
  const metrics = new Metrics();
  const gauges = new FeedGauges(metrics);
  gauges.showAll([feed({}, 'gone')]);
  gauges.showAll(feeds);
  return shownMetrics(metrics, BEGIN);
}

const COUNTS = { received: 9, published: 9, unchanged: 0, overtaken: 0, oversize: 0 };

test('a feed is proved up to when the last of its resources was, and counts add up', () => {
  const pods = row('pods', '2026-01-01T23:58:00Z', { lacking: 1, oversize: 3 });
  const nodes = row('nodes', '2026-01-02T00:00:00Z', { lacking: 1, stray: 4 });
  const events = { ...COUNTS, healed: 5, unfounded: 6 };
  const proved = seconds('2026-01-01T23:58:00Z');
  expect(shown(feed({ sweptAt: SWEPT, resources: [pods, nodes], events }))).toEqual({
    'swept_timestamp_seconds feeds/f-u1': seconds(SWEPT),
    'proved_timestamp_seconds feeds/f-u1': proved,
    'good_until_timestamp_seconds feeds/f-u1': proved + 2 * 120 + 60,
    'objects feeds/f-u1': 4,
    'lacking_objects feeds/f-u1': 2,
    'stray_objects feeds/f-u1': 4,
    'oversize_objects feeds/f-u1': 3,
    'healed_messages feeds/f-u1': 5,
    'unfounded_messages feeds/f-u1': 6,
  });
});

test.each<[string, MetadataFeedStatus]>([
  ['one of its resources cannot be read', { sweptAt: SWEPT, resources: [row('pods', SWEPT)] }],
  ['it was never swept', {}],
])('nothing is proved while %s', (_, status) => {
  expect(shown(feed(status))).toMatchObject({
    'proved_timestamp_seconds feeds/f-u1': 0,
    'good_until_timestamp_seconds feeds/f-u1': 0,
  });
});

test.each<[string, MetadataFeedStatus, string]>([
  ['somebody else has just swept', { sweptAt: SWEPT, observedGeneration: 1 }, 'well'],
  ['cannot be swept', { sweptAt: SWEPT }, 'NATS_UNAVAILABLE'],
])('each tick shows a feed that %s', async (_, status, end) => {
  const metrics = new Metrics();
  const kube = {
    list: async () => ({ metadata: { resourceVersion: '1' }, items: [object(status)] }),
    close: async () => undefined,
  } as unknown as KubeClient;
  const log = pino({ level: 'silent' });
  const deps = new Deps({
    kube,
    clock: { nowMs: () => Date.parse(SWEPT), sleep: async () => undefined },
    log,
    gauges: new FeedGauges(metrics),
    namespace: 'feeds',
    nats: { url: 'nats://127.0.0.1:1', access: NO_ACCESS },
  });
  const context = { deps, log, signal: new AbortController().signal };
  const ended = sweepDueFeeds(context as unknown as Context<Deps>).then(
    () => 'well',
    (error: unknown) => (error instanceof Failure ? error.code : error),
  );
  expect(await ended).toBe(end);
  expect(shownMetrics(metrics, BEGIN)).toMatchObject({
    'swept_timestamp_seconds feeds/f-u1': seconds(SWEPT),
  });
  await deps.close();
});
