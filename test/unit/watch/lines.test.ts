// The lines of the watch: what happened to which object, in a few words.
import { expect, test } from 'vitest';
import { differenceInWords } from '../../../knative/try/local/watch/difference.ts';
import { jsonLines, plainLines } from '../../../knative/try/local/watch/lines.ts';
import type { ObjectMessage } from '../../../shared/feed/messages.ts';
import type { Entry } from '../../../shared/nats/replica/entry.ts';

const AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

const podOf = (more: Partial<ObjectMessage> = {}): ObjectMessage => ({
  epoch: 1,
  kind: 'Pod',
  namespace: 'web',
  name: 'a',
  uid: 'u',
  resourceVersion: '1',
  ...more,
});

const entryOf = (object: ObjectMessage): Entry => ({
  subject: 'node.n1.pods.web.a',
  version: 7,
  fingerprint: { high: 0, low: 0 },
  key: { resource: 'pods', namespace: object.namespace ?? '', name: object.name },
  place: { node: 'n1' },
  object,
});

test('each kind of change has its line', () => {
  const entry = entryOf(podOf({ phase: 'Running', node: 'n1', ips: ['10.0.0.1'] }));
  const previous = entryOf(podOf({ phase: 'Pending', node: 'n1' }));
  const line = (change: Parameters<typeof plainLines.change>[0]): string =>
    plainLines.change(change, AT);
  expect(line({ type: 'added', version: 7, entry })).toBe(
    '03:04:05.678  added    Pod  web/a  Running on n1 10.0.0.1  @7',
  );
  expect(line({ type: 'changed', version: 8, entry, previous })).toBe(
    '03:04:05.678  changed  Pod  web/a  phase Pending -> Running, ips none -> 10.0.0.1  @8',
  );
  expect(line({ type: 'removed', version: 9, entry, moved: true })).toBe(
    '03:04:05.678  removed  Pod  web/a  moved  @9',
  );
  expect(line({ type: 'resync', version: 9, missed: 3 })).toContain('3 changes were missed');
});

test('what changed is named', () => {
  const before = podOf({
    ready: true,
    labels: { a: '1' },
    endpoints: [{ ips: ['1'] }],
    containers: [{ name: 'app', image: 'x', state: 'waiting', reason: 'Pull' }],
  });
  const after = podOf({
    resourceVersion: '2',
    labels: { a: '2' },
    endpoints: [],
    containers: [{ name: 'app', image: 'x', state: 'running', ready: true }],
  });
  expect(differenceInWords(before, after).split(', ').toSorted()).toEqual([
    'app waiting (Pull) -> running ready',
    'endpoints 1 -> 0',
    'labels',
    'not ready',
  ]);
  expect(differenceInWords(before, podOf({ uid: 'other' }))).toBe('another object of this name');
});

test('states are told with why and how far', () => {
  const state = { phase: 'wrong', version: 12, verifiedVersion: 5, why: 'it differs' } as const;
  expect(plainLines.state(state, AT)).toBe(
    '03:04:05.678  --- wrong at 12, verified at 5: it differs',
  );
});

test('a feed that nobody sweeps is told, and since when', () => {
  const state = { phase: 'current', version: 12, isStale: true } as const;
  expect(plainLines.state({ ...state, sweptAtMs: AT - 181_000 }, AT)).toBe(
    '03:04:05.678  --- current at 12, stale: not swept for 181 s',
  );
  expect(plainLines.state(state, AT)).toBe(
    '03:04:05.678  --- current at 12, stale: nobody sweeps it',
  );
});

test('as JSON, a line holds everything', () => {
  const entry = entryOf(podOf());
  const removed = jsonLines.change({ type: 'removed', version: 9, entry, moved: true }, AT);
  expect(JSON.parse(removed)).toEqual({
    time: '2026-01-02T03:04:05.678Z',
    type: 'removed',
    version: 9,
    moved: true,
    subject: 'node.n1.pods.web.a',
    resource: 'pods',
    namespace: 'web',
    name: 'a',
    object: podOf(),
  });
  const state = JSON.parse(jsonLines.state({ phase: 'current', version: 3 }, AT));
  expect(state).toMatchObject({ type: 'state', phase: 'current', version: 3 });
});
