// The reading of the servers' answers: which answer counts, and which replica is current.
import { expect, test } from 'vitest';
import { natsStateOf } from '../../../functions/nats-cluster/nats-state.ts';
import type { JszAnswer, PeerInfo } from '../../../shared/nats/system-answers.ts';

const about = (name: string) => ({ server: { name, id: `ID-${name}`, ver: '2.15.2' } });
const SECOND_NS = 1_000_000_000;

const jsz = (reporter: string, leader: string, replicas: readonly PeerInfo[]): JszAnswer => ({
  ...about(reporter),
  data: {
    meta_cluster: { leader: 'n0', peer: 'P0', cluster_size: 3, replicas },
    account_details: [
      {
        name: 'SHOP',
        stream_detail: [
          {
            name: 'ORDERS',
            config: { num_replicas: 3, storage: 'file' },
            cluster: { leader, replicas },
            consumer_detail: [
              {
                name: 'lasting',
                config: { durable_name: 'lasting' },
                cluster: { leader, replicas },
              },
              { name: 'passing', cluster: { leader } },
            ],
          },
        ],
      },
    ],
  },
});

const peer = (name: string, more: Partial<PeerInfo> = {}): PeerInfo => ({
  name,
  current: true,
  active: SECOND_NS,
  ...more,
});

test.each<[string, Partial<PeerInfo>, boolean]>([
  ['current and just heard of', {}, true],
  ['offline', { offline: true }, false],
  ['not heard of for long', { active: 11 * SECOND_NS }, false],
  ['late by what is on its way', { current: false, lag: 20 }, true],
  ['late by more', { current: false, lag: 1_000 }, false],
  [
    'late by little, and not just heard of',
    { current: false, lag: 20, active: 3 * SECOND_NS },
    false,
  ],
  ['never heard of', { current: false, lag: 12, active: 0 }, false],
])('a follower that is %s', (_, more, isCurrent) => {
  const { groups } = natsStateOf([], [jsz('n0', 'n0', [peer('n1', more)])], []);
  expect(groups[0]?.members[1]).toEqual({ server: 'n1', peerId: '', isCurrent });
});

test("the leader's word counts, whoever is heard first", () => {
  const followers = [peer('n0'), peer('n2', { current: false, active: 0 })];
  const { groups, meta } = natsStateOf(
    [],
    [jsz('n1', 'n0', followers), jsz('n0', 'n0', [peer('n1'), peer('n2')])],
    [],
  );
  expect(groups).toHaveLength(3);
  expect(groups.flatMap(({ members }) => members).every((one) => one.isCurrent)).toBe(true);
  expect(meta).toMatchObject({ leader: 'n0', size: 3 });
});

test('without a leader the group has none, and nobody is taken for it', () => {
  const { groups } = natsStateOf([], [jsz('n1', '', [peer('n1'), peer('n2')])], []);
  expect(groups[0]).toMatchObject({
    leader: undefined,
    members: [{ server: 'n1' }, { server: 'n2' }],
  });
});

test('a consumer has as many replicas as it lasts for', () => {
  const { groups } = natsStateOf([], [jsz('n0', 'n0', [peer('n1'), peer('n2')])], []);
  const replicas = groups.map(({ consumer, replicas: count }) => [consumer, count]);
  expect(replicas).toEqual([
    [undefined, 3],
    ['lasting', 3],
    ['passing', 1],
  ]);
});

test.each(['interest', 'workqueue'])(
  'where a stream keeps messages for its consumers (%s) each of these is on all its servers',
  (retention) => {
    const answer = jsz('n0', 'n0', [peer('n1'), peer('n2')]);
    const [account] = answer.data.account_details ?? [];
    const [own] = account?.stream_detail ?? [];
    if (account === undefined || own?.config === undefined) throw new Error('it has no stream');
    const stream = { ...own, config: { ...own.config, retention } };
    const data = { ...answer.data, account_details: [{ ...account, stream_detail: [stream] }] };
    const { groups } = natsStateOf([], [{ ...answer, data }], []);
    expect(groups.map(({ replicas }) => replicas)).toEqual([3, 3, 3]);
  },
);

test('a server that does not say how it is counts as not healthy', () => {
  const varz = { ...about('n0'), data: { config_digest: 'sha256:0', start: '' } };
  const healthy = { ...about('n0'), data: { status: 'ok' } };
  const told = jsz('n0', 'n0', []);
  expect(natsStateOf([varz], [told], []).servers.get('n0')?.healthErrors).toHaveLength(1);
  expect(natsStateOf([varz], [told], [healthy]).servers.get('n0')?.healthErrors).toEqual([]);
});

test('a server that does not say which streams it has is not taken to have none', () => {
  const varz = { ...about('n4'), data: { config_digest: 'sha256:0', start: '' } };
  const tells = (...answers: readonly JszAnswer[]) =>
    natsStateOf([varz], answers, []).servers.get('n4')?.reportsStreams;
  expect(tells(jsz('n0', 'n0', []))).toBe(false);
  expect(tells(jsz('n4', 'n0', []))).toBe(true);
});
