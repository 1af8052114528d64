// The pod that had an address at a time: among those that live, and those that ended and are still
// kept.
import { beforeEach, expect, test } from 'vitest';
import type { Tombstone } from '../../../shared/feed/messages.ts';
import { Catalog } from '../../../shared/nats/replica/catalog.ts';
import { type EntryText, entryOf } from './entries.ts';

const IP = '10.0.0.7';
let catalog: Catalog;

beforeEach(() => {
  catalog = new Catalog({ historySeconds: 3_600 });
});

const at = (time: string): string => `2026-11-21T${time}:00.000Z`;
const podsAt = (time: string, ip = IP): string[] =>
  catalog.byIpAt(ip, Date.parse(at(time))).map(({ name, uid }) => `${name} ${uid}`);

const pod = (uid: string, created: string, more: EntryText = {}) =>
  entryOf({ name: 'web', namespace: 'shop', uid, created: at(created), ips: [IP], ...more });

const grave = (uid: string, end: string, more: Partial<Tombstone> = {}): Tombstone => ({
  deleted: true,
  epoch: 1,
  uid,
  resourceVersion: '9',
  at: at(end),
  ...more,
});

test('an address is answered by who had it then: before, during and after', () => {
  const first = pod('u1', '10:00', { node: 'n1' });
  catalog.put(first);
  catalog.drop(first.subject, grave('u1', '10:30'));
  catalog.put(pod('u2', '10:40', { node: 'n2' }));
  expect(podsAt('09:59')).toEqual([]);
  expect(podsAt('10:00')).toEqual(['web u1']);
  expect(podsAt('10:29')).toEqual(['web u1']);
  expect(podsAt('10:30')).toEqual([]);
  expect(podsAt('10:40')).toEqual(['web u2']);
  expect(podsAt('23:00')).toEqual(['web u2']);
  expect(catalog.byIpAt(IP, Date.parse(at('10:10')))).toEqual([
    {
      uid: 'u1',
      kind: 'Pod',
      namespace: 'shop',
      name: 'web',
      node: 'n1',
      fromMs: Date.parse(at('10:00')),
      toMs: Date.parse(at('10:30')),
    },
  ]);
});

test('a tombstone alone tells a reader that starts cold of the past, once', () => {
  const last = { kind: 'Pod', created: at('10:00'), node: 'n1', ips: [IP] };
  const subject = 'node.n1.pods.shop.web%2e1';
  for (let times = 0; times < 3; times += 1) {
    catalog.drop(subject, grave('u1', '10:30', { last }));
  }
  expect(podsAt('10:15')).toEqual(['web.1 u1']);
});

test('a uid that changes under the same name ends the one before', () => {
  catalog.put(pod('u1', '10:00'));
  catalog.put(pod('u2', '10:20'));
  expect(podsAt('10:10')).toEqual(['web u1']);
  expect(podsAt('10:20')).toEqual(['web u2']);
});

test('a tombstone of another uid than the one held ends both', () => {
  const held = pod('u1', '10:00');
  catalog.put(held);
  const last = { kind: 'Pod', created: at('10:10'), ips: ['10.0.0.8'] };
  catalog.drop(held.subject, grave('u2', '10:30', { last }));
  expect(podsAt('10:20')).toEqual(['web u1']);
  expect(podsAt('10:20', '10.0.0.8')).toEqual(['web u2']);
});

test('a move ends nothing', () => {
  const before = pod('u1', '10:00', { place: 'cluster' });
  catalog.put(before);
  catalog.put(pod('u1', '10:00', { node: 'n1' }));
  catalog.drop(before.subject, grave('u1', '10:30', { moved: true }));
  expect(podsAt('10:29')).toEqual(['web u1']);
  expect(podsAt('10:31')).toEqual(['web u1']);
  catalog.put(pod('u1', '10:00', { node: 'n1', phase: 'Running' }));
  expect(catalog.pastsKept).toBe(0);
});

test('a move of which only one half was told names its object once', () => {
  const before = pod('u1', '10:00', { place: 'cluster' });
  catalog.put(before);
  catalog.put(pod('u1', '10:00', { node: 'n1' }));
  catalog.put(pod('u9', '11:00', { name: 'later', ips: [] }));
  catalog.drop(before.subject);
  expect(podsAt('10:29')).toEqual(['web u1']);
});

test('an address that an object lost stays known, and its new one is known too', () => {
  catalog.put(pod('u1', '10:00'));
  catalog.put(pod('u9', '10:20', { name: 'later', ips: ['10.0.0.9'] }));
  catalog.put(pod('u1', '10:00', { ips: ['10.0.0.8'] }));
  expect(podsAt('10:10')).toEqual(['web u1']);
  expect(podsAt('10:21')).toEqual([]);
  expect(podsAt('10:21', '10.0.0.8')).toEqual(['web u1']);
});

test('the past is forgotten when it is older than what is kept', () => {
  const first = pod('u1', '10:00');
  catalog.put(first);
  catalog.drop(first.subject, grave('u1', '10:30'));
  catalog.put(pod('u2', '11:30', { name: 'x', ips: [] }));
  expect(podsAt('10:10')).toEqual(['web u1']);
  catalog.put(pod('u3', '11:31', { name: 'y', ips: [] }));
  expect(podsAt('10:10')).toEqual([]);
  catalog.setHistorySeconds(7_200);
  expect(catalog.historySeconds).toBe(7_200);
});

test('pods that come and go for days leave an hour of traces', () => {
  const startMs = Date.parse(at('00:00'));
  const holders = new Set<string>();
  for (let minute = 0; minute < 10_000; minute += 1) {
    const created = new Date(startMs + minute * 60_000).toISOString();
    const end = new Date(startMs + (minute + 1) * 60_000).toISOString();
    const one = entryOf({ name: 'job', uid: `u${minute}`, created, ips: [IP] });
    catalog.put(one);
    catalog.drop(one.subject, { ...grave(`u${minute}`, '10:00'), at: end });
  }
  for (let minute = 0; minute < 10_000; minute += 1) {
    for (const { uid } of catalog.byIpAt(IP, startMs + minute * 60_000)) holders.add(uid);
  }
  expect(holders.size).toBe(61);
  expect(catalog.pastsKept).toBeLessThanOrEqual(61 + 1_000);
});

test('an address belongs to its pod before it belongs to pods that share it or are done', () => {
  catalog.put(entryOf({ resource: 'nodes', kind: 'Node', name: 'n1', ips: [IP] }));
  catalog.put(entryOf({ name: 'agent', node: 'n1', hostNetwork: true, ips: [IP] }));
  catalog.put(entryOf({ name: 'done', phase: 'Succeeded', ips: [IP] }));
  const names = () => catalog.byIp(IP).map(({ object }) => object.name);
  expect(names()).toEqual(['n1', 'agent', 'done']);
  catalog.put(entryOf({ name: 'own', ips: [IP] }));
  catalog.put(entryOf({ name: 'agent2', node: 'n1', hostNetwork: true, ips: [IP] }));
  expect(names()).toEqual(['own', 'n1', 'agent2', 'agent', 'done']);
  expect(podsAt('10:00')[0]).toBe('n1 uid-of-n1');
});
