// The addresses of a cluster: all of them out of one network, none of them twice, and none that
// this machine already reaches somewhere else.
import { expect, test } from 'vitest';
import {
  addressesIn,
  isTakenBy,
  NODES_MAX,
  nodeAddresses,
} from '../../../knative/try/cluster/addresses.ts';

const SUBNET = '10.213.0.0/16';

const found = () => {
  const addresses = addressesIn(SUBNET);
  if (addresses === undefined) throw new Error('the default has to do');
  return addresses;
};

const numberOf = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

const rangeOf = (cidr: string): readonly [number, number] => {
  const [address = '', bits = '32'] = cidr.split('/');
  const first = numberOf(address);
  return [first, first + 2 ** (32 - Number(bits)) - 1];
};

test.each(['10.0.0.0/8', '8.8.0.0/16', '172.15.0.0/16', '10.300.0.0/16', '10.1.2.0/16', 'x', ''])(
  '"%s" is no network for a cluster',
  (text) => expect(addressesIn(text)).toBeUndefined(),
);

test.each(['10.1.0.0/16', '172.16.0.0/16', '172.31.0.0/16', '192.168.0.0/16'])(
  '%s is a network for a cluster, with a name that an interface may have',
  (text) => expect(addressesIn(text)?.interfaceName.length).toBeLessThanOrEqual(15),
);

test('pods of no node share addresses with another, with Services or with the nodes', () => {
  const addresses = found();
  const nodes = Array.from({ length: NODES_MAX }, (_, index) =>
    nodeAddresses(addresses, index + 1),
  );
  const single = [addresses.host, addresses.controlPlane, addresses.dnsServer];
  const ranges = [
    ...nodes.map(({ podCidr }) => podCidr),
    addresses.serviceCidr,
    ...[...single, ...nodes.map(({ address }) => address)].map((address) => `${address}/32`),
  ].map(rangeOf);
  const sorted = ranges.toSorted(([a], [b]) => a - b);
  for (const [index, [first]] of sorted.entries()) {
    expect(first).toBeGreaterThan(sorted[index - 1]?.[1] ?? 0);
  }
  const [first, last] = rangeOf(SUBNET);
  expect(sorted[0]?.[0]).toBeGreaterThanOrEqual(first);
  expect(sorted.at(-1)?.[1]).toBeLessThanOrEqual(last);
});

test('the two ends of the wire are the two addresses that a /30 has for hosts', () => {
  const { host, controlPlane } = found();
  expect([numberOf(host) % 4, numberOf(controlPlane) % 4]).toEqual([1, 2]);
});

test.each([
  ['10.213.0.0/16 dev x', true],
  ['10.213.7.9 dev x', true],
  ['local 10.213.7.9 dev x table local', true],
  ['10.0.0.0/8 via 192.0.2.1 dev x', true],
  ['10.212.0.0/16 dev x', false],
  ['default via 10.213.0.9 dev x', false],
  ['0.0.0.0/1 via 10.8.0.1 dev tun0', false],
  ['192.0.2.0/24 dev x src 10.213.0.1', false],
])('the route "%s" takes the network: %s', (route, isTaken) => {
  expect(isTakenBy(route, SUBNET)).toBe(isTaken);
});
