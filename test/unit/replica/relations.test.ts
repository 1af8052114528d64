// How objects hang together: the pods behind a workload, a service, a node, a namespace, and the
// owners above an object.
import { beforeEach, expect, test } from 'vitest';
import { Catalog } from '../../../shared/nats/replica/catalog.ts';
import type { Entry } from '../../../shared/nats/replica/entry.ts';
import { type EntryText, entryOf } from './entries.ts';

let catalog: Catalog;

const put = (parts: EntryText): void => void catalog.put(entryOf({ namespace: 'shop', ...parts }));
const names = (entries: readonly Entry[]): string[] =>
  entries.map(({ object }) => object.name).toSorted();
const podsOf = (resource: string, name: string, namespace = 'shop'): string[] =>
  names(catalog.podsOf({ resource, namespace, name }));
const servicesOf = (name: string): string[] => {
  const pod = catalog.find({ resource: 'pods', namespace: 'shop', name });
  return pod === undefined ? [] : names(catalog.servicesOf(pod));
};
const owner = (kind: string, name: string) => ({ kind, name, uid: `uid-of-${name}` });

beforeEach(() => {
  catalog = new Catalog({ historySeconds: 60 });
  put({ resource: 'deployments', kind: 'Deployment', name: 'web' });
  put({
    resource: 'replicasets',
    kind: 'ReplicaSet',
    name: 'web-1',
    uid: 'rs1',
    owner: owner('Deployment', 'web'),
  });
  put({
    resource: 'replicasets',
    kind: 'ReplicaSet',
    name: 'web-2',
    uid: 'rs2',
    owner: owner('Deployment', 'web'),
  });
  const inSet = (uid: string) => ({ kind: 'ReplicaSet', name: 'set', uid });
  put({ name: 'web-1-a', node: 'n1', labels: { app: 'web' }, owner: inSet('rs1') });
  put({ name: 'web-2-a', node: 'n1', labels: { app: 'web' }, owner: inSet('rs2') });
  put({ name: 'web-2-b', node: 'n2', labels: { app: 'web' }, owner: inSet('rs2') });
  put({ name: 'other', namespace: 'bank', labels: { app: 'web' } });
});

test('a workload stands for its pods, through as many owners as there are', () => {
  expect(podsOf('deployments', 'web')).toEqual(['web-1-a', 'web-2-a', 'web-2-b']);
  expect(podsOf('replicasets', 'web-2')).toEqual(['web-2-a', 'web-2-b']);
  expect(podsOf('pods', 'web-1-a')).toEqual(['web-1-a']);
  expect(podsOf('deployments', 'absent')).toEqual([]);
});

test('a node and a namespace stand for the pods in them', () => {
  expect(podsOf('nodes', 'n1', '')).toEqual(['web-1-a', 'web-2-a']);
  expect(podsOf('namespaces', 'bank', '')).toEqual(['other']);
});

test('the endpoints of a service say its pods; its selector only where there are none', () => {
  put({ resource: 'services', kind: 'Service', name: 'web', selector: { app: 'web' } });
  put({ resource: 'services', kind: 'Service', name: 'external' });
  expect(podsOf('services', 'web')).toEqual(['web-1-a', 'web-2-a', 'web-2-b']);
  expect(podsOf('services', 'external')).toEqual([]);
  const slice = {
    resource: 'endpointslices',
    kind: 'EndpointSlice',
    name: 'web-x',
    service: 'web',
  };
  put({ ...slice, place: 'cluster', endpoints: [] });
  expect(podsOf('services', 'web')).toEqual([]);
  for (const [node, name] of [
    ['n1', 'web-1-a'],
    ['n2', 'web-2-b'],
  ] as const) {
    const pod = { name, uid: `uid-of-${name}` };
    put({ ...slice, node, place: { node }, endpoints: [{ ips: ['10.0.0.1'], pod }] });
  }
  expect(podsOf('services', 'web')).toEqual(['web-1-a', 'web-2-b']);
  expect(servicesOf('web-1-a')).toEqual(['web']);
  expect(servicesOf('web-2-a')).toEqual([]);
});

test('a service whose hundred endpoints change one by one sends to those it has now', () => {
  const pods = Array.from({ length: 30 }, (_, index) => `many-${index}`);
  put({ resource: 'services', kind: 'Service', name: 'many' });
  for (const name of pods) put({ name });
  const slice = { resource: 'endpointslices', kind: 'EndpointSlice', name: 'many-x' };
  for (let from = 0; from < 20; from += 1) {
    const endpoints = pods
      .slice(from, from + 10)
      .map((name) => ({ ips: ['10.0.0.1'], pod: { name, uid: `uid-of-${name}` } }));
    put({ ...slice, service: 'many', endpoints });
    const reached = pods.filter((name) => servicesOf(name).length > 0);
    expect(reached).toEqual(pods.slice(from, from + 10));
  }
});

test('the services of a pod are those that select it, where no endpoints are known', () => {
  put({ resource: 'services', kind: 'Service', name: 'web', selector: { app: 'web' } });
  put({ resource: 'services', kind: 'Service', name: 'api', selector: { app: 'api' } });
  put({ resource: 'services', kind: 'Service', name: 'external' });
  put({ resource: 'services', name: 'elsewhere', namespace: 'bank', selector: { app: 'web' } });
  expect(servicesOf('web-1-a')).toEqual(['web']);
});

test('owners are climbed up to the last one that is known, even in a circle', () => {
  const pod = catalog.find({ resource: 'pods', namespace: 'shop', name: 'web-2-a' });
  if (pod === undefined) throw new Error('the pod is not held');
  expect(names(catalog.ownersOf(pod))).toEqual(['web', 'web-2']);
  put({
    resource: 'deployments',
    name: 'web',
    owner: { kind: 'ReplicaSet', name: 'x', uid: 'rs2' },
  });
  expect(names(catalog.ownersOf(pod))).toEqual(['web', 'web-2']);
  expect(podsOf('deployments', 'web')).toEqual(['web-1-a', 'web-2-a', 'web-2-b']);
});

test('during a move a pod is shown where it was written last', () => {
  put({ name: 'new', place: 'cluster', uid: 'u' });
  put({ name: 'new', node: 'n3', uid: 'u' });
  put({ name: 'moved', node: 'n3', uid: 'v' });
  put({ name: 'moved', node: 'n4', uid: 'v' });
  expect(catalog.byUid('u').map(({ object }) => object.node)).toEqual(['n3']);
  expect(names(catalog.onNode('n3'))).toEqual(['new']);
  expect(names(catalog.onNode('n4'))).toEqual(['moved']);
});
