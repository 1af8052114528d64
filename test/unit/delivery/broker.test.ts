// The broker's checks of an event before any function is asked: hops, room, and who is to get it.
import { expect, test } from 'vitest';
import { Broker, type Letter } from '../../../knative/try/local/delivery/broker.ts';
import { PENDING_MAX } from '../../../knative/try/local/delivery/limits.ts';
import { StatsBook } from '../../../knative/try/local/delivery/stats.ts';
import type { Filter, TriggerWiring } from '../../../knative/try/local/manifests/wiring.ts';
import type { Clock } from '../../../shared/clock.ts';

const clock: Clock = { nowMs: () => Date.UTC(2026, 0, 2), sleep: async () => undefined };

function triggerOf(name: string, filter: Filter): TriggerWiring {
  const subscriber = { kind: 'uri', uri: 'http://127.0.0.1' } as const;
  const delivery = { retries: 0 };
  return { file: 'test', namespace: 'ns', name, broker: 'b', filter, subscriber, delivery };
}

const everything: Filter = { dialect: 'attributes', values: {} };
const letter = (attributes: Readonly<Record<string, string>> = {}): Letter => ({
  event: {
    attributes: { specversion: '1.0', id: '1', source: '/s', type: 't', ...attributes },
    data: Buffer.alloc(0),
  },
  headers: {},
});

/** `until` holds the deliveries back. */
function brokerOf(filters: readonly Filter[], until: Promise<void> = Promise.resolve()) {
  const stats = new StatsBook(clock, [], []);
  const delivered: {
    readonly trigger: string;
    readonly attributes: Readonly<Record<string, string>>;
  }[] = [];
  const broker = new Broker({
    brokers: ['ns/b'],
    triggers: filters.map((filter, index) => triggerOf(`t${index}`, filter)),
    stats,
    clock,
    deliver: async ({ name }, { event }) => {
      delivered.push({ trigger: name, attributes: event.attributes });
      await until;
    },
  });
  return { broker, stats, delivered };
}

test.each([
  [undefined, '255'],
  ['255', '254'],
  ['2', '1'],
  ['nonsense', '255'],
])('an event that comes with the hops %s goes on with %s', (hops, left) => {
  const { broker, delivered } = brokerOf([everything]);
  const attributes = hops === undefined ? {} : { knativebrokerttl: hops };
  expect(broker.accept('ns/b', letter(attributes))).toBe(202);
  expect(delivered[0]?.attributes['knativebrokerttl']).toBe(left);
});

test.each(['1', '0', '-5'])('an event that comes with %s hops is refused', (knativebrokerttl) => {
  const { broker, delivered, stats } = brokerOf([everything]);
  expect(broker.accept('ns/b', letter({ knativebrokerttl }))).toBe(400);
  expect(delivered).toEqual([]);
  expect(stats.read().refused).toEqual({ 400: 1 });
});

test('the time of arrival is noted', () => {
  const { broker, delivered } = brokerOf([everything]);
  broker.accept('ns/b', letter());
  expect(delivered[0]?.attributes['knativearrivaltime']).toBe('2026-01-02T00:00:00.000Z');
});

test('the triggers whose filter passes get it, and only those', () => {
  const exact = (type: string): Filter => ({ dialect: 'exact', values: { type } });
  const { broker, delivered } = brokerOf([exact('t'), exact('u'), everything]);
  broker.accept('ns/b', letter());
  expect(delivered.map(({ trigger }) => trigger)).toEqual(['t0', 't2']);
});

test('an event that nobody wants is accepted and counted', () => {
  const { broker, stats } = brokerOf([]);
  expect(broker.accept('ns/b', letter({ kind: 'Pod' }))).toBe(202);
  expect(stats.read()).toMatchObject({
    unmatched: 1,
    eventsIn: [{ type: 't', kind: 'Pod', count: 1 }],
  });
});

test('a broker that is not there is 404', () => {
  expect(brokerOf([]).broker.accept('ns/other', letter())).toBe(404);
});

test('when too many deliveries are pending there is no room, and then there is again', async () => {
  const { promise: until, resolve: release } = Promise.withResolvers<void>();
  const { broker, stats } = brokerOf([everything, everything], until);
  for (let index = 0; index < PENDING_MAX / 2; index += 1) broker.accept('ns/b', letter());
  expect(broker.accept('ns/b', letter())).toBe(503);
  expect(stats.read().triggers['ns/t0']?.pending).toBe(PENDING_MAX / 2);
  release();
  await expect.poll(() => stats.read().triggers['ns/t0']?.pending).toBe(0);
  expect(broker.accept('ns/b', letter())).toBe(202);
});
