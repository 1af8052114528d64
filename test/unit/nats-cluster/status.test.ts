// The conditions for a state and a decision.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/nats-cluster/decide.ts';
import { statusUpdateOf } from '../../../functions/nats-cluster/status.ts';
import { recordsOf } from '../../../functions/nats-cluster/state.ts';
import { NOW_MS } from '../stateful/samples.ts';
import { type Differences, outdated, peer, state } from './samples.ts';

function said(type: string, differences: Differences): string {
  const one = state({ nowMs: NOW_MS, ...differences });
  const { conditions } = statusUpdateOf(one, decide(one), recordsOf(one), new Map());
  const found = conditions.find((condition) => condition.type === type);
  return `${found?.status} ${found?.reason}`;
}

const missing: NonNullable<Differences['pods']> = (pods) =>
  outdated('nats-2')(pods).filter(({ name }) => name !== 'nats-1');
const restarting = {
  server: 'nats-1',
  podUid: 'gone',
  reason: 'Its pod template is another one now.',
  since: '2026-01-01T23:59:00Z',
};

test.each<[string, Differences, string]>([
  ['all is well', {}, 'False NotDegraded'],
  [
    'a server is missing',
    { pods: (pods) => pods.filter(({ name }) => name !== 'nats-1') },
    'True ServerAway',
  ],
  [
    'a server is missing while another one is to be restarted',
    { pods: missing },
    'True ServerAway',
  ],
  ['it is away at our wish', { pods: missing, status: { restarting } }, 'False NotDegraded'],
])('Degraded when %s', (_, differences, expected) => {
  expect(said('Degraded', differences)).toBe(expected);
});

const away =
  (...servers: readonly string[]): NonNullable<Differences['pods']> =>
  (pods) =>
    pods.map((one) => ({ ...one, isReady: !servers.includes(one.name) }));
/** Three servers were there when it was looked at last. */
const { status: three } = state().cluster;
const grown = { spec: { replicas: 5 }, status: three } as const;
const since = (startingSince: string) => ({
  servers: [
    ...(three.servers ?? []),
    ...['nats-3', 'nats-4'].map((name) => ({ name, ready: false, startingSince })),
  ],
});
const first = { pods: away('nats-0', 'nats-1', 'nats-2') };
const peersTo = (count: number) =>
  Array.from({ length: count }, (_, ordinal) => peer(`nats-${ordinal}`));
const PROGRESSES = ['True Changing', 'False NotDegraded'];

test.each<[string, Differences, readonly string[]]>([
  ['new servers of a scale-up start', { ...grown, pods: away('nats-3', 'nats-4') }, PROGRESSES],
  [
    'they do so for some minutes',
    { ...grown, pods: away('nats-4'), status: since('2026-01-01T23:55:00Z') },
    PROGRESSES,
  ],
  [
    'they are not in the meta group yet',
    {
      ...grown,
      nats: (nats) => ({ ...nats, meta: { leader: 'nats-0', size: 3, peers: peersTo(3) } }),
    },
    PROGRESSES,
  ],
  [
    'they start, and something else is to be done next',
    { ...grown, pods: (pods) => outdated('nats-2')(away('nats-4')(pods)) },
    PROGRESSES,
  ],
  ['the first servers start', { ...first, status: { servers: [] } }, PROGRESSES],
  [
    'they do not come',
    { ...grown, pods: away('nats-4'), status: since('2026-01-01T23:49:59Z') },
    ['False Settled', 'True ServerAway'],
  ],
  [
    'they start, and one of the others is away',
    { ...grown, pods: away('nats-1', 'nats-4') },
    ['True Changing', 'True ServerAway'],
  ],
  ['servers that were there are away', first, ['False Settled', 'True ServerAway']],
])('Progressing and Degraded while %s', (_, differences, expected) => {
  expect([said('Progressing', differences), said('Degraded', differences)]).toEqual(expected);
});

test('since when a server starts is remembered until it has joined the others', () => {
  const servers = (differences: Differences) => {
    const one = state(differences);
    return statusUpdateOf(one, decide(one), recordsOf(one), new Map()).status.servers ?? [];
  };
  const sinceOf = (differences: Differences) =>
    servers(differences).flatMap(({ startingSince = '' }) => startingSince);
  const [now, before] = ['2026-01-02T00:00:00Z', '2026-01-01T23:55:00Z'];
  const both = { ...grown, pods: away('nats-3', 'nats-4') };
  expect(sinceOf(both)).toEqual(['', '', '', now, now]);
  const later = { ...grown, pods: away('nats-4'), status: since(before) };
  expect(sinceOf(later)).toEqual(['', '', '', '', before]);
  expect(sinceOf({ ...grown, pods: away('nats-1'), status: {} })).toEqual(['', '', '', '', '']);
});

test('what clients have to do in time stands in Ready, which stays True', () => {
  const notice = 'From 2026-02-01 on another authority signs.';
  const one = state({ nowMs: NOW_MS, parts: { notice } });
  const { conditions } = statusUpdateOf(one, decide(one), recordsOf(one), new Map());
  const ready = conditions.find(({ type }) => type === 'Ready');
  expect(ready).toMatchObject({ status: 'True', reason: 'Whole' });
  expect(ready?.message).toMatch(/ of its own\. From 2026-02-01 on another/);
});
