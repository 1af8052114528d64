// The bounds of what console holds and sends, whatever stands in the cluster.
import { expect, test } from 'vitest';
import { SHOWN_KINDS } from '../../../functions/console/kinds.ts';
import { LIMITS, PodLog } from '../../../functions/console/pod-log.ts';
import { shownState } from '../../../functions/console/shown.ts';
import { StateReader } from '../../../functions/console/state-reader.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import type { Change } from '../../../shared/nats/replica/changes.ts';
import { systemClock } from '../../../shared/clock.ts';
import { MovedClock } from '../../builders/moved-clock.ts';

const change = (type: 'added' | 'removed', name: string, node = 'n1', ip = '10.0.0.1'): Change =>
  ({
    type,
    version: 1,
    entry: {
      subject: `node.${node}.${name}`,
      key: { resource: 'pods', namespace: 'shop', name },
      object: { node, ips: [ip], phase: 'Running', ready: true },
    },
  }) as unknown as Change;

const limits = { rowsMax: 3, bytesMax: 10_000, goneMax: 2, waitersMax: 1 };
const never = new AbortController().signal;

/** Everything page by page, as a browser does it. */
function readAll(log: PodLog, from = { id: '', next: 0 }): readonly string[] {
  const names: string[] = [];
  let page = log.read(from.id, from.next);
  for (;;) {
    names.push(...page.rows.map((row) => `${row[2]}@${row[3] ?? 'gone'}`));
    if (page.isWhole) return names;
    page = log.read(page.id, page.next);
  }
}

test('a log read from the beginning has each pod once, in pages', () => {
  const log = new PodLog(limits);
  for (const name of ['a', 'b', 'c', 'd', 'a']) log.apply(change('added', name));
  expect(log.read('', 0).rows).toHaveLength(3);
  expect(readAll(log)).toEqual(['b@n1', 'c@n1', 'd@n1', 'a@n1']);
});

test('what is new comes alone, a pod that moved stays, and one that is gone is told', () => {
  const log = new PodLog(limits);
  for (const name of ['a', 'b']) log.apply(change('added', name));
  const { id, next } = log.read('', 0);
  log.apply(change('added', 'a', 'n2'));
  log.apply(change('removed', 'a', 'n1'));
  log.apply(change('removed', 'b'));
  expect(readAll(log, { id, next })).toEqual(['a@n2', 'b@gone']);
});

test('it holds no more than twice of what there is, however much comes and goes', () => {
  const log = new PodLog(limits);
  const { id } = log.read('', 0);
  for (let index = 0; index < 20_000; index += 1) {
    log.apply(change('added', `pod-${index}`));
    log.apply(change('removed', `pod-${index}`));
    log.apply(change('added', 'stays', `n${index}`));
  }
  expect(log.size).toBeLessThan(1_100);
  expect(log.read(id, 5)).toMatchObject({ isReset: true });
  expect(readAll(log)).toEqual(['stays@n19999']);
});

test('a pod that changes all the time is one line in it', () => {
  const log = new PodLog(limits);
  for (let index = 0; index < 20_000; index += 1) log.apply(change('added', 'a', `n${index}`));
  expect(log.size).toBeLessThan(1_100);
  expect(readAll(log)).toEqual(['a@n19999']);
});

test('a page ends before it is too large', () => {
  const log = new PodLog();
  const long = 'x'.repeat(250);
  for (let index = 0; index < 6_000; index += 1) log.apply(change('added', `${long}${index}`));
  const page = log.read('', 0);
  expect(JSON.stringify(page).length).toBeLessThan(LIMITS.bytesMax * 1.1);
  expect(page.isWhole).toBe(false);
});

test('another log, as after a restart, is read anew', () => {
  const log = new PodLog(limits);
  log.apply(change('added', 'a'));
  const { id, next } = log.read('', 0);
  log.apply({ type: 'resync', version: 1, missed: 3 });
  expect(log.read(id, next)).toMatchObject({ isReset: true, rows: [] });
  for (const name of ['b', 'c', 'd']) log.apply(change('added', name));
  expect(readAll(log, { id, next })).toEqual(['b@n1', 'c@n1', 'd@n1']);
});

test('who waits is woken by a change, and one too many is answered at once', async () => {
  const log = new PodLog(limits);
  const { id, next } = log.read('', 0);
  const first = log.wait(id, next, 60_000, systemClock, never).then(() => 'woken');
  await log.wait(id, next, 60_000, systemClock, never);
  log.apply(change('added', 'a'));
  expect(await first).toBe('woken');
});

const [FEEDS] = SHOWN_KINDS;
/** Made once: each `repeat` is written out again by whoever first looks into it. */
const [TIME, REASON, MESSAGE] = [1_000, 5_000, 100_000].map((length) => 'x'.repeat(length));
const large = (index: number): KubeObject =>
  ({
    metadata: { namespace: 'shop', name: `feed-${index}`, uid: String(index) },
    status: {
      conditions: Array.from({ length: 100 }, (_, one) => ({
        type: `T${one}`,
        status: 'True',
        reason: REASON,
        message: MESSAGE,
        lastTransitionTime: TIME,
      })),
    },
  }) as unknown as KubeObject;

test('the state has at most a few megabytes, and says that there is more', () => {
  if (FEEDS === undefined) throw new Error('no kind is shown');
  const objects = Array.from({ length: 500 }, (_, index) => large(index));
  const kinds = [{ shown: FEEDS, objects, isCut: false }];
  const replica = { phase: 'current', version: 1 } as const;
  const state = shownState({ nowMs: 0, kinds, letters: { events: [] }, replica });
  expect(JSON.stringify(state).length).toBeLessThan(3 * 1024 * 1024);
  expect(state.kinds[0]?.isCut).toBe(true);
  expect(state.kinds[0]?.objects[0]?.conditions.length).toBeLessThan(20);
  expect(state.problemsLeft).toBeGreaterThan(0);
});

test('a hundred that look at once are one look at the API server', async () => {
  // Each kind is listed once, and Events are.
  const LOOK = SHOWN_KINDS.length + 1;
  let lists = 0;
  const kube = {
    list: async () => {
      lists += 1;
      return { items: [], metadata: { resourceVersion: '1' }, apiVersion: '', kind: '' };
    },
    get: async () => null,
  };
  const clock = new MovedClock();
  const replica = { state: { phase: 'current', version: 1 } } as const;
  const reader = new StateReader({ kube, clock, namespace: 'x', replica });
  await Promise.all(Array.from({ length: 100 }, () => reader.read()));
  await reader.read();
  expect(lists).toBe(LOOK);
  await clock.advance(2_001);
  await reader.read();
  expect(lists).toBe(2 * LOOK);
});
