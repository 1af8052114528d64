// Where the pod of a restore is placed: its volume may stay on that node, so a member has to find
// room there.
import { beforeEach, expect, test } from 'vitest';
import { roomFor } from '../../../functions/etcd-restore/render/room.ts';
import { clusterSpec, SPEC } from './samples.ts';
import { begin, podSpec, sweep } from './world.ts';

const LARGE = { requests: { cpu: '2', memory: '8Gi' }, limits: { memory: '16Gi' } };

beforeEach(() => {
  const spec = clusterSpec({ resources: LARGE });
  begin({ etcdCluster: { name: 'main', spec } });
});

test('it goes where a member has room', async () => {
  await sweep();
  const { initContainers, containers } = podSpec();
  const asked = [...initContainers, ...containers].map((one) => [one.name, one.resources]);
  expect(asked).toEqual([
    ['check', SPEC.resources],
    ['restore', LARGE],
    ['confirm', SPEC.resources],
  ]);
});

test.each([
  [
    'more of each',
    { requests: { cpu: '500m', memory: '1Gi' }, limits: { memory: '1Gi' } },
    { requests: { cpu: '1', memory: '512Mi' }, limits: { memory: '2Gi' } },
    { requests: { cpu: '1', memory: '1Gi' }, limits: { memory: '2Gi' } },
  ],
  [
    'what one alone asks for',
    { requests: { cpu: '500m' } },
    { requests: { memory: '1Gi' } },
    { requests: { cpu: '500m', memory: '1Gi' }, limits: {} },
  ],
  [
    'no limit where one has none',
    { limits: { memory: '1Gi', cpu: '1' } },
    { limits: { cpu: '2' } },
    { requests: {}, limits: { cpu: '2' } },
  ],
])('for two it asks for %s', (_, one, other, both) => {
  expect(roomFor(one, other)).toEqual(both);
  expect(roomFor(other, one)).toEqual(both);
});
