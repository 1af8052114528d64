// The small pieces: lanes, statistics, addresses, headers, and what an adapter is told.
import { describe, expect, test } from 'vitest';
import { urlOf } from '../../../knative/try/local/delivery/config.ts';
import { Lanes } from '../../../knative/try/local/delivery/lanes.ts';
import { COUNTED_TYPES_MAX, LAST_ERRORS_MAX } from '../../../knative/try/local/delivery/limits.ts';
import { StatsBook } from '../../../knative/try/local/delivery/stats.ts';
import type { ApiServerSourceWiring } from '../../../knative/try/local/manifests/wiring.ts';
import { adapterPart, guessedPlural } from '../../../knative/try/local/plane/adapter.ts';
import { systemClock } from '../../../shared/clock.ts';

test('a lane lets its limit through at a time, the others in their order', async () => {
  const lanes = new Lanes(() => 2);
  const order: number[] = [];
  let inFlight = 0;
  let most = 0;
  const work = (index: number): Promise<unknown> =>
    lanes.run('a', async () => {
      order.push(index);
      most = Math.max(most, (inFlight += 1));
      // More comes while others wait, and one fails.
      const later = index < 5 ? [work(index + 5)] : [];
      await Promise.resolve();
      inFlight -= 1;
      if (index === 1) throw new Error('failed');
      return later;
    });
  const results = await Promise.allSettled([0, 1, 2, 3, 4].map(work));
  await expect.poll(() => order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(most).toBe(2);
  const failed = results.filter(({ status }) => status === 'rejected');
  expect(failed).toHaveLength(1);
});

test('lanes of different addresses do not wait for each other', async () => {
  const lanes = new Lanes(() => 1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = lanes.run('a', () => promise);
  expect(await lanes.run('b', async () => 'through')).toBe('through');
  resolve();
  await held;
});

describe('statistics stay small', () => {
  const stats = new StatsBook(systemClock, [], []);

  test('types beyond the limit are counted together', () => {
    for (let index = 0; index < COUNTED_TYPES_MAX + 5; index += 1) stats.countIn(`t${index}`, '');
    const { eventsIn } = stats.read();
    expect(eventsIn).toHaveLength(COUNTED_TYPES_MAX + 1);
    expect(eventsIn.at(-1)).toEqual({ type: 'other', kind: 'other', count: 5 });
    stats.countIn('t0', '');
    expect(stats.read().eventsIn[0]).toEqual({ type: 't0', kind: '', count: 2 });
  });

  test('the last errors are kept, and the older ones forgotten', () => {
    for (let index = 0; index < LAST_ERRORS_MAX + 5; index += 1) stats.error('t', `${index}`);
    const messages = stats.read().lastErrors.map(({ message }) => message);
    expect([messages.length, messages[0]]).toEqual([LAST_ERRORS_MAX, '5']);
  });
});

describe('addresses', () => {
  const addresses = { brokerUrl: 'http://b:1', services: { 'ns/f': { url: 'http://f:2' } } };
  const base = { namespace: 'ns', name: 'f' };

  test.each([
    [{ kind: 'Broker', ...base } as const, 'http://b:1/ns/f'],
    [{ kind: 'Service', ...base } as const, 'http://f:2/'],
    [{ kind: 'Service', ...base, path: '/x/y' } as const, 'http://f:2/x/y'],
    [{ kind: 'uri', uri: 'http://u/p' } as const, 'http://u/p'],
  ])('%j is at %s', (destination, url) => {
    expect(urlOf(destination, addresses)).toBe(url);
  });

  test('a Service that listens nowhere is named', () => {
    const unknown = { kind: 'Service', namespace: 'ns', name: 'g' } as const;
    expect(() => urlOf(unknown, addresses)).toThrow('ns/g');
  });
});

describe('the adapter', () => {
  const source: ApiServerSourceWiring = {
    file: 'test',
    namespace: 'ns',
    name: 's',
    mode: 'Resource',
    resources: [
      { apiVersion: 'v1', kind: 'Pod', labelSelector: 'a=b' },
      { apiVersion: 'apps/v1', kind: 'StatefulSet', labelSelector: '' },
    ],
    extensions: { ballastfunction: 'm' },
    serviceAccountName: 'sa',
    sink: { kind: 'uri', uri: 'http://127.0.0.1' },
  };
  const options = { binary: '/a', kubeconfigPath: '/k', sinkUrl: 'http://s', profilingPort: 1 };
  const configOf = (changes: Partial<ApiServerSourceWiring>): unknown =>
    JSON.parse(adapterPart({ ...source, ...changes }, options).env['K_SOURCE_CONFIG'] ?? '');

  test('is told what the manifest says, in the words of Knative', () => {
    const resources = [
      { gvr: { Group: '', Version: 'v1', Resource: 'pods' }, selector: 'a=b' },
      { gvr: { Group: 'apps', Version: 'v1', Resource: 'statefulsets' } },
    ];
    expect(configOf({})).toEqual({
      namespaces: [''],
      allNamespaces: true,
      resources,
      mode: 'Resource',
    });
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet' };
    expect(configOf({ owner, namespaces: ['ns'] })).toMatchObject({
      owner,
      namespaces: ['ns'],
      allNamespaces: false,
    });
    const { env } = adapterPart(source, options);
    expect(JSON.parse(env['K_CE_OVERRIDES'] ?? '')).toEqual({
      extensions: { ballastfunction: 'm' },
    });
  });

  test.each([
    ['Pod', 'pods'],
    ['Ingress', 'ingresses'],
    ['NetworkPolicy', 'networkpolicies'],
    ['Endpoints', 'endpoints'],
    ['Gateway', 'gatewaies'],
  ])('guesses that %s are %s, right or wrong, as Knative does', (kind, plural) => {
    expect(guessedPlural(kind)).toBe(plural);
  });
});
