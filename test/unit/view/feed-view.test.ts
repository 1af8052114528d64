// A feed as the live view shows it, from its status and from what NATS tells of its connections.
import { expect, test } from 'vitest';
import { readersIn } from '../../../knative/try/local/view/feed-readers.ts';
import { feedClause, feedViewOf } from '../../../knative/try/local/view/feed-view.ts';

const NOW_MS = Date.parse('2026-11-21T12:00:30Z');

const feed = (status: unknown) => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'MetadataFeed',
  metadata: { name: 'cluster', uid: 'u', resourceVersion: '1' },
  status,
});

const condition = (type: string, status: string, reason: string) => ({ type, status, reason });

test('a feed that was swept shows its version, readers and what was healed', () => {
  const status = {
    epoch: 2,
    sweptAt: '2026-11-21T12:00:00Z',
    resources: [{ objects: 3 }, { objects: 4 }],
    events: { healed: 5, unfounded: 1 },
    conditions: [condition('Ready', 'True', 'Published'), condition('InSync', 'True', 'Healed')],
  };
  const version = { total: 99, perSecond: 2 };
  const view = feedViewOf(feed(status), version, new Map([['cluster', 7]]), NOW_MS);
  expect(view).toMatchObject({ epoch: 2, objects: 7, readers: 7 });
  expect(feedClause(view)).toBe(
    'feed cluster: in sync, version 99 (2.0/s), 7 readers, swept 30s ago, ' +
      'healed 5 (1 claims without ground)',
  );
});

test('a feed says why it is not in sync', () => {
  const conditions = [
    condition('Ready', 'True', 'Published'),
    condition('InSync', 'False', 'NotVerified'),
  ];
  const view = feedViewOf(feed({ conditions }), undefined, new Map(), NOW_MS);
  expect(view.state).toBe('NotVerified');
});

test('a feed that was never swept is starting', () => {
  const view = feedViewOf(feed(undefined), undefined, new Map(), NOW_MS);
  expect([view.state, feedClause(view).includes('swept never')]).toEqual(['Starting', true]);
});

test('a connection counts once for each feed, however many filters it has', () => {
  const connections = [
    { subscriptions_list: ['ballast-live.a.node.n1.>', 'ballast-live.a.all._.>', '_INBOX.x.*'] },
    { subscriptions_list: ['ballast-live.a.>', 'ballast-live.b.>'] },
    {},
  ];
  expect(readersIn({ connections })).toEqual(
    new Map([
      ['a', 2],
      ['b', 1],
    ]),
  );
});
