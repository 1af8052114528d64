// An endpoint slice is cut by node: a head for who reads the cluster, a part for each node.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Shown, show } from '../../../shared/feed/projections/show.ts';
import { object, plan } from './objects.ts';

const labels = { 'kubernetes.io/service-name': 'shop', tier: 'web' };

function cut(endpoints: unknown, more: Readonly<Record<string, unknown>> = {}): readonly Shown[] {
  const ports = [{ name: '', port: 8_080, protocol: 'TCP' }];
  const rest = { addressType: 'IPv4', ports, endpoints, ...more };
  return show('endpointslices', object('EndpointSlice', { name: 'shop-x', labels }, rest), plan);
}

const endpoint = (
  ip: string,
  nodeName?: string,
  conditions: unknown = { ready: true },
): object => ({
  addresses: [ip],
  conditions,
  ...(nodeName === undefined ? {} : { nodeName }),
  targetRef: { kind: 'Pod', namespace: 'web', name: `pod-${ip}`, uid: `uid-${ip}` },
});
const shownEndpoint = (ip: string): object => ({
  ips: [ip],
  ready: true,
  pod: { name: `pod-${ip}`, uid: `uid-${ip}` },
});

test('a slice over two nodes is a head and two parts, what has no node stays in the head', () => {
  const shown = cut([
    endpoint('10.0.0.9'),
    endpoint('10.0.0.2', 'n2'),
    endpoint('10.0.0.1', 'n2'),
    endpoint('10.0.0.3', 'n.1'),
  ]);
  const identity = {
    epoch: 1,
    kind: 'EndpointSlice',
    namespace: 'web',
    name: 'shop-x',
    uid: 'uid-1',
    resourceVersion: '7',
  };
  const shared = { service: 'shop', addressType: 'IPv4', ports: [{ port: 8_080 }] };
  expect(shown.map(({ subject, message }) => [subject, message])).toStrictEqual([
    [
      'cluster._.endpointslices.web.shop-x',
      {
        ...identity,
        ...shared,
        labels,
        nodes: ['n.1', 'n2'],
        endpoints: [shownEndpoint('10.0.0.9')],
      },
    ],
    [
      'node.n%2e1.endpointslices.web.shop-x',
      { ...identity, ...shared, node: 'n.1', endpoints: [shownEndpoint('10.0.0.3')] },
    ],
    [
      'node.n2.endpointslices.web.shop-x',
      {
        ...identity,
        ...shared,
        node: 'n2',
        endpoints: [shownEndpoint('10.0.0.1'), shownEndpoint('10.0.0.2')],
      },
    ],
  ]);
  expect(new Set(shown.map(({ key }) => JSON.stringify(key))).size).toBe(1);
});

test.each([
  ['an empty list', []],
  ['null', null],
  ['nothing', undefined],
])('a service scaled to zero, with %s for endpoints, leaves the head only', (_name, endpoints) => {
  const [head, ...parts] = cut(endpoints);
  expect(parts).toEqual([]);
  expect(head?.message).toMatchObject({ service: 'shop', addressType: 'IPv4' });
  expect(head?.message).not.toHaveProperty('nodes');
  expect(head?.message).not.toHaveProperty('endpoints');
});

test.each([
  [{}, {}],
  [{ ready: true, serving: true, terminating: false }, { ready: true }],
  [
    { ready: false, serving: true, terminating: true },
    { ready: false, serving: true, terminating: true },
  ],
  [{ ready: false, serving: false }, { ready: false }],
])('the conditions %j of an endpoint are shown as %j', (conditions, expected) => {
  const [head] = cut([{ addresses: ['::1'], conditions }]);
  expect(head?.message.endpoints).toStrictEqual([{ ips: ['::1'], ...expected }]);
});

test('an endpoint that is no pod names none', () => {
  const [head] = cut([{ addresses: ['10.0.0.1'], targetRef: { kind: 'Node', name: 'n1' } }]);
  expect(head?.message.endpoints).toStrictEqual([{ ips: ['10.0.0.1'] }]);
});

test('the order in which the endpoints came is not seen', () => {
  const all = ['n1', 'n2', undefined].flatMap((node, at) =>
    Array.from({ length: 6 }, (_, n) => endpoint(`10.0.${at}.${n * 7}`, node)),
  );
  const expected = JSON.stringify(cut(all));
  fc.assert(
    fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (shuffled) => {
      expect(JSON.stringify(cut(shuffled))).toBe(expected);
    }),
  );
});

test('every endpoint is shown exactly once, on its node or in the head', () => {
  const nodeName = fc.option(fc.constantFrom('n1', 'n.2', ''), { nil: undefined });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.ipV4(), nodeName)), (wanted) => {
      const shown = cut(wanted.map(([ip, node]) => endpoint(ip, node)));
      const found = shown.flatMap(({ message: { node = '', endpoints = [] } }) =>
        endpoints.map(({ ips }) => `${ips.join()} ${node}`),
      );
      const expected = wanted.map(([ip, node = '']) => `${ip} ${node}`);
      expect(found.toSorted()).toEqual(expected.toSorted());
      expect(shown[0]?.message.nodes ?? []).toEqual(
        shown.slice(1).map((part) => part.message.node),
      );
    }),
  );
});
