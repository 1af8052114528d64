// NotSwept: conditions of NatsClusters, StorageMigrations and feeds that are True though nobody has
// reconciled them for two periods.
import { expect, test } from 'vitest';
import { staleConditions, staleFeedConditions } from '../../../functions/dead-letters/not-swept.ts';
import { feedSweptAt, stalenessOf, WATCHED_KINDS } from '../../../shared/kube/swept-kinds.ts';
import { SweepAges } from '../../../functions/dead-letters/sweep-ages.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { readSweepLease } from '../../../shared/kube/sweep-lease.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const LIMIT_MS = 180_000;
const ago = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString();

const saying = (type: string, status: string, sinceSeconds = 3_600) => ({
  type,
  status,
  reason: 'Whole',
  message: 'Well.',
  lastTransitionTime: ago(sinceSeconds),
});

const object = (metadata: object, ...conditions: readonly object[]): KubeObject =>
  ({
    metadata: { name: 'nats', uid: 'u', resourceVersion: '7', ...metadata },
    status: { conditions },
  }) as unknown as KubeObject;

const cluster = (...conditions: readonly object[]): KubeObject =>
  object({ namespace: 'shop' }, ...conditions);

const lease = (renewTime: string, failing?: unknown): KubeObject =>
  ({
    metadata: {
      annotations: { 'ballast.dev/not-looked-at': JSON.stringify(failing) },
    },
    spec: { renewTime, leaseDurationSeconds: LIMIT_MS / 1_000 },
  }) as unknown as KubeObject;

const watchedOf = (kind: string) => WATCHED_KINDS.find((one) => one.kind === kind);
const [CLUSTERS, MIGRATIONS] = ['NatsCluster', 'StorageMigration'].map(watchedOf);

/** As of a Lease that was never seen before. */
function found(one: KubeObject, held: KubeObject | null, watched = CLUSTERS) {
  if (watched === undefined) throw new Error('nothing is watched');
  const state = readSweepLease(held);
  const ageMs = new SweepAges().ageMs(watched.lease, state.renewTime, NOW);
  const neglected = stalenessOf(state, ageMs, NOW);
  return neglected === undefined ? [] : staleConditions(one, watched, neglected, NOW);
}

const words = (changes: ReturnType<typeof found>): readonly string[] =>
  changes.map(({ type, status, reason }) => `${type} ${status} ${reason}`);

test('a function that is dead for two periods leaves no cluster Ready', () => {
  const whole = cluster(saying('Ready', 'True'), saying('Degraded', 'False'));
  expect(words(found(whole, lease(ago(181))))).toEqual(['Ready Unknown NotSwept']);
  expect(words(found(whole, lease(ago(179))))).toEqual([]);
  expect(found(whole, lease(ago(181)))[0]?.message).toContain(
    `since ${ago(181)}, when Lease ballast-nats-cluster was renewed`,
  );
});

test('of a migration nobody goes on with; what it has proved stays proved', () => {
  const under = object({}, saying('Proved', 'True'), saying('Progressing', 'True'));
  const stale = found(under, lease(ago(900)), MIGRATIONS);
  expect(words(stale)).toEqual(['Progressing Unknown NotSwept']);
});

test('of an EtcdCluster nobody says any more that its backup is new enough', () => {
  const whole = cluster(saying('BackupReady', 'True'), saying('Degraded', 'False'));
  const stale = found(whole, lease(ago(181)), watchedOf('EtcdCluster'));
  expect(words(stale)).toEqual(['BackupReady Unknown NotSwept']);
});

test('what already says otherwise, or was said since, is left to whoever said it', () => {
  const said = [saying('Ready', 'False'), saying('Progressing', 'Unknown')];
  expect(found(cluster(...said), lease(ago(900)))).toEqual([]);
  expect(found(cluster(saying('Ready', 'True', 100)), lease(ago(900)))).toEqual([]);
  expect(found(cluster(), lease(ago(900)))).toEqual([]);
});

test('one that cannot be looked at for so long is told, and no other', () => {
  const failing = { 'shop/nats': ago(181), 'other/nats': ago(60) };
  const held = lease(ago(5), failing);
  const one = found(cluster(saying('Ready', 'True')), held);
  expect(words(one)).toEqual(['Ready Unknown NotSwept']);
  expect(one[0]?.message).toContain(`has failed since ${ago(181)}`);
  const other = object({ namespace: 'other' }, saying('Ready', 'True'));
  const third = object({ namespace: 'third' }, saying('Ready', 'True'));
  expect([...found(other, held), ...found(third, held)]).toEqual([]);
});

test('a Lease that is not there says something once it was seen missing for so long', () => {
  const leaseAges = new SweepAges();
  const state = readSweepLease(null);
  const at = (seconds: number) =>
    stalenessOf(state, leaseAges.ageMs('l', state.renewTime, NOW + seconds * 1_000), NOW);
  expect([at(0), at(179)]).toEqual([undefined, undefined]);
  const neglected = at(181);
  expect(neglected).toMatchObject({ isAll: true });
  if (CLUSTERS === undefined || neglected === undefined) throw new Error('nothing is neglected');
  const [change] = staleConditions(cluster(saying('Ready', 'True')), CLUSTERS, neglected, NOW);
  expect(change?.message).toContain('there is no Lease ballast-nats-cluster');
});

test('who sees the Lease change counts by his own time, whatever clock renewed it', () => {
  for (const offSeconds of [-86_400, 86_400]) {
    const leaseAges = new SweepAges();
    const renewed = (seconds: number): string => ago(-seconds - offSeconds);
    const age = (renewedAt: number, at: number): number =>
      leaseAges.ageMs('l', renewed(renewedAt), NOW + at * 1_000);
    age(0, 1);
    expect(age(60, 61)).toBe(0);
    expect(age(60, 121)).toBe(60_000);
    expect(age(60, 242)).toBe(181_000);
    expect(age(120, 243)).toBe(0);
  }
});

test('a Lease is as old as it says to whoever has just come, but not one of the future', () => {
  const first = (renewTime: string): number => new SweepAges().ageMs('l', renewTime, NOW);
  expect(first(ago(900))).toBe(900_000);
  expect(first(ago(-900))).toBe(0);
  expect(first('yesterday')).toBe(0);
});

const odd: readonly [title: string, spec: object][] = [
  ['a text', { leaseDurationSeconds: '7' }],
  ['nothing', { leaseDurationSeconds: 0 }],
  ['for ever', { leaseDurationSeconds: 1e12 }],
  ['unsaid', {}],
];

test.each(odd)('a Lease that lasts %s lasts as any other', (_what, spec) => {
  const held = { metadata: { annotations: { 'ballast.dev/not-looked-at': '{' } }, spec };
  const state = readSweepLease(held as unknown as KubeObject);
  expect(state).toMatchObject({ lastsMs: LIMIT_MS, failing: new Map() });
});

const feed = (status: object, spec: object = { sweepSeconds: 60 }): KubeObject => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'MetadataFeed',
  metadata: {
    name: 'cluster',
    namespace: 'ballast-system',
    uid: 'u',
    resourceVersion: '7',
    creationTimestamp: ago(3_600),
  },
  spec,
  status,
});

const FEED_READY = [saying('Ready', 'True'), saying('InSync', 'True'), saying('Degraded', 'False')];
/** As of a feed that was never seen before. */
const staleFeed = (one: KubeObject, ages = new SweepAges(), nowMs = NOW) =>
  staleFeedConditions(one, ages.ageMs('feed', feedSweptAt(one), nowMs));
const feedChanges = (one: KubeObject): readonly string[] => words(staleFeed(one));

test('a function that is dead for two periods leaves no feed Ready', () => {
  const stale = feed({ sweptAt: ago(181), conditions: FEED_READY });
  expect(feedChanges(stale)).toEqual(['Ready Unknown NotSwept', 'InSync Unknown NotSwept']);
  expect(staleFeed(stale)[0]?.message).toContain(`since ${ago(181)}, though it is due every 60 s`);
});

test('two periods of a feed are those of the feed, and a sweep under way has its time', () => {
  expect(feedChanges(feed({ sweptAt: ago(179), conditions: FEED_READY }))).toEqual([]);
  const slow = { sweepSeconds: 600 };
  expect(feedChanges(feed({ sweptAt: ago(1_200), conditions: FEED_READY }, slow))).toEqual([]);
  expect(feedChanges(feed({ sweptAt: ago(1_261), conditions: FEED_READY }, slow))).toHaveLength(2);
});

test('a feed that already says otherwise is left to whoever said it', () => {
  const said = [saying('Ready', 'False'), saying('InSync', 'Unknown')];
  expect(feedChanges(feed({ sweptAt: ago(900), conditions: said }))).toEqual([]);
  expect(feedChanges(feed({}))).toEqual([]);
});

test('a clock that was ahead is no reason against a feed, nor for one that nobody sweeps', () => {
  const one = feed({ sweptAt: ago(-86_400), conditions: FEED_READY });
  const ages = new SweepAges();
  const after = (seconds: number) => words(staleFeed(one, ages, NOW + seconds * 1_000));
  expect([after(0), after(180)]).toEqual([[], []]);
  expect(after(181)).toEqual(['Ready Unknown NotSwept', 'InSync Unknown NotSwept']);
});

test('who sees a feed swept counts by his own time, whatever clock swept it', () => {
  for (const offSeconds of [-86_400, 86_400]) {
    const ages = new SweepAges();
    const after = (sweptSeconds: number, seconds: number) => {
      const one = feed({ sweptAt: ago(-sweptSeconds - offSeconds), conditions: FEED_READY });
      return staleFeed(one, ages, NOW + seconds * 1_000).length;
    };
    after(0, 1);
    expect([after(60, 61), after(60, 241), after(60, 242), after(120, 243)]).toEqual([0, 0, 2, 0]);
  }
});

test('feeds that are gone are forgotten', () => {
  const ages = new SweepAges();
  for (const key of ['one', 'two']) ages.ageMs(key, undefined, NOW);
  ages.keepOnly(new Set(['two']));
  expect(['one', 'two'].map((key) => ages.ageMs(key, undefined, NOW + 5))).toEqual([0, 5]);
});
