// The status of a pass whose page has to be done again: the API server does not know any more where
// the next one begins.
import { expect, test } from 'vitest';
import type { Deps } from '../../../functions/storage-migration/deps.ts';
import { Pass } from '../../../functions/storage-migration/pass.ts';
import { errorFromAnswer, readStatus } from '../../../shared/kube/errors.ts';
import type { KubeObject, Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import { timestamp } from '../../../shared/kube/timestamp.ts';
import { HandClock } from '../../builders/hand-clock.ts';
import { at, migration, PROGRESS, target } from './samples.ts';

const object = (name: string, resourceVersion: string): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, uid: name, resourceVersion },
});

const EXPIRED = errorFromAnswer(
  { verb: 'list', ref: target().ref },
  readStatus(410, JSON.stringify({ reason: 'Expired', message: 'Too old.' })),
);

test('what a page changed that is done again keeps its pass from being the proof', async () => {
  const clock = new HandClock();
  let lists = 0;
  const kube = {
    list: async () => {
      lists += 1;
      if (lists > 1) throw EXPIRED;
      return { items: [object('a', '1'), object('b', '1')], metadata: { resourceVersion: '9' } };
    },
    apply: async (_ref: ResourceRef, { metadata }: Manifest) => {
      await clock.sleep(1_000);
      return object(metadata.name, '2');
    },
  };
  const deps = { kube, clock } as unknown as Deps;
  const pass = new Pass(deps, { concurrency: 1 }, new AbortController().signal);
  const progress = { ...PROGRESS, done: 0, current: 0 };
  const status = at('Verifying', { pass: 2, rewritten: 5, progress });
  const { status: next } = await pass.page(target(), migration({ status }), 500);
  expect(next).toMatchObject({
    phase: 'Verifying',
    rewritten: 6,
    progress: { changed: 1, done: 0 },
  });
});

test('what a pass changed that begins again keeps it from being the proof', async () => {
  const kube = {
    list: async () => {
      throw EXPIRED;
    },
  };
  const deps = { kube, clock: new HandClock() } as unknown as Deps;
  const pass = new Pass(deps, { concurrency: 1 }, new AbortController().signal);
  const cursor = { after: 'w', continue: 'there', resourceVersion: '9' };
  const status = at('Verifying', { pass: 2, cursor, progress: { ...PROGRESS, changed: 1 } });
  const { status: next } = await pass.page(target(), migration({ status }), 500);
  expect(next).toMatchObject({ phase: 'Verifying', progress: { changed: 1, done: 0 } });
  expect(next).not.toHaveProperty('cursor');
});

test('rate and time left of the second pass do not count what it waited for', async () => {
  const clock = new HandClock();
  const began = timestamp(clock.nowMs());
  await clock.sleep(600_000);
  const writesEndAt = timestamp(clock.nowMs());
  const items = Array.from({ length: 20 }, (_, index) => object(`w${index}`, '1'));
  const kube = {
    list: async () => ({
      items,
      metadata: { resourceVersion: '9', continue: 'more', remainingItemCount: 20 },
    }),
    apply: async (_ref: ResourceRef, { metadata }: Manifest) => {
      await clock.sleep(100);
      return object(metadata.name, '1');
    },
  };
  const deps = { kube, clock } as unknown as Deps;
  const pass = new Pass(deps, { concurrency: 1 }, new AbortController().signal);
  const status = at('Verifying', { pass: 2, passStartedAt: began, writesEndAt });
  const endsAtMs = clock.nowMs() + 60_000;
  const { status: next } = await pass.page(target(), migration({ status }), endsAtMs);
  expect(next).toMatchObject({
    passStartedAt: writesEndAt,
    progress: { done: 20, total: 40, perSecond: 10, left: '2s' },
  });
});

test('to find nothing to clean takes no time, whatever the budget is', async () => {
  const clock = new HandClock();
  const beganMs = clock.nowMs();
  const items = Array.from({ length: 20 }, (_, index) => object(`w${index}`, '1'));
  const kube = { list: async () => ({ items, metadata: { resourceVersion: '9' } }) };
  const deps = { kube, clock } as unknown as Deps;
  const limits = { concurrency: 1, requestsPerSecond: 1 };
  const pass = new Pass(deps, limits, new AbortController().signal);
  const status = at('Cleaning', { progress: { ...PROGRESS, done: 0, current: 0 } });
  const { status: next } = await pass.page(target(), migration({ status }), 1_000);
  expect(clock.nowMs()).toBe(beganMs);
  expect(next).toMatchObject({ phase: 'Rewriting', pass: 1 });
});
