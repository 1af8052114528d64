// Which feeds claim to be Ready though nobody looked.
import { expect, test } from 'vitest';
import { staleFeedConditions } from '../../../functions/dead-letters/not-swept.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const ago = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString();

const condition = (type: string, status: string) => ({
  type,
  status,
  reason: 'Published',
  message: 'Whole.',
  lastTransitionTime: ago(3_600),
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

const READY = [
  condition('Ready', 'True'),
  condition('InSync', 'True'),
  condition('Degraded', 'False'),
];
const changes = (object: KubeObject): readonly string[] =>
  staleFeedConditions(object, NOW).map(({ type, status, reason }) => `${type} ${status} ${reason}`);

test('a function that is dead for two periods leaves no feed Ready', () => {
  const stale = feed({ sweptAt: ago(181), conditions: READY });
  expect(changes(stale)).toEqual(['Ready Unknown NotSwept', 'InSync Unknown NotSwept']);
  expect(staleFeedConditions(stale, NOW)[0]?.message).toContain(
    `since ${ago(181)}, though it is due every 60 s`,
  );
});

test('two periods are those of the feed, and a sweep under way has its time', () => {
  expect(changes(feed({ sweptAt: ago(179), conditions: READY }))).toEqual([]);
  const slow = { sweepSeconds: 600 };
  expect(changes(feed({ sweptAt: ago(1_200), conditions: READY }, slow))).toEqual([]);
  expect(changes(feed({ sweptAt: ago(1_261), conditions: READY }, slow))).toHaveLength(2);
});

test('what already says otherwise is left to whoever said it', () => {
  const said = [condition('Ready', 'False'), condition('InSync', 'Unknown')];
  expect(changes(feed({ sweptAt: ago(900), conditions: said }))).toEqual([]);
  expect(changes(feed({}))).toEqual([]);
});

test('a clock that was ahead is no reason', () => {
  expect(changes(feed({ sweptAt: ago(-900), conditions: READY }))).toEqual([]);
});
