// Cases that no real API server makes on demand: it keeps silent about initial events, ignores a
// selector, or answers a read between two events that are still on their way.
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../../../shared/clock.ts';
import { DEFAULT_LIMITS } from '../../../../shared/kube/narrow-cache/limits.ts';
import {
  type NarrowCache,
  narrowCache,
} from '../../../../shared/kube/narrow-cache/narrow-cache.ts';
import type { Kube } from '../../../../shared/kube/narrow-cache/target.ts';
import { errorFromAnswer, readStatus } from '../../../../shared/kube/errors.ts';
import type { KubeList, KubeObject } from '../../../../shared/kube/objects.ts';
import type { WatchEvent, WatchOptions } from '../../../../shared/kube/watch.ts';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const name = { namespace: 'default', name: 'a' };

const object = (resourceVersion: string, called = 'a'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: called, namespace: 'default', uid: 'u1', resourceVersion },
});
const listOf = (resourceVersion: string, ...items: KubeObject[]): KubeList => ({
  apiVersion: 'v1',
  kind: 'ConfigMapList',
  metadata: { resourceVersion },
  items,
});
const complete = (resourceVersion: string): WatchEvent => ({
  type: 'BOOKMARK',
  resourceVersion,
  isInitialEventsEnd: true,
});

/** A watch that tells what it is given, and then nothing more until it ends. */
async function* telling(
  events: Iterable<WatchEvent>,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent, void, undefined> {
  yield* events;
  const ended = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => ended.reject(signal.reason));
  await ended.promise;
}

let cache: NarrowCache | undefined;
afterEach(() => cache?.close());

function open(
  watch: (options: WatchOptions) => Iterable<WatchEvent>,
  list: () => KubeList = () => {
    throw new Error('nobody lists here');
  },
): NarrowCache {
  const kube: Kube = {
    get: () => Promise.reject(new Error('nobody gets here')),
    list: async () => list(),
    watchOnce: (_, options) => telling(watch(options), options.signal),
  };
  cache = narrowCache(kube, { limits: { answerTimeoutMs: 50 } });
  return cache;
}

const versionOf = async (from: NarrowCache): Promise<string | undefined> =>
  (await from.get(configMaps, name))?.metadata.resourceVersion;

test('an API server that never ends its initial events is asked by a list', async () => {
  const held = open(
    ({ from }) => (from === 'initial-events' ? [{ type: 'ADDED', object: object('3') }] : []),
    () => listOf('5', object('4')),
  );
  expect(await versionOf(held)).toBe('4');
  const later = open(
    ({ from }) =>
      from === 'initial-events' ? [] : [{ type: 'MODIFIED', object: object('7') } as const],
    () => listOf('5', object('4')),
  );
  await expect.poll(() => versionOf(later)).toBe('7');
});

test('an API server that ignores the selector shows nobody else', async () => {
  const held = open(() => [
    { type: 'ADDED', object: object('2') },
    { type: 'ADDED', object: object('3', 'b') },
    complete('5'),
    { type: 'DELETED', object: object('6', 'b') },
  ]);
  expect(await versionOf(held)).toBe('2');
});

test('an older event that comes after a newer one is dropped', async () => {
  const held = open(() => [
    complete('5'),
    { type: 'ADDED', object: object('9') },
    { type: 'DELETED', object: object('8') },
    { type: 'MODIFIED', object: object('7') },
  ]);
  await expect.poll(() => versionOf(held)).toBe('9');
  expect(await versionOf(held)).toBe('9');
});

test('an API server that ends every watch at once is asked less and less often', async () => {
  const pauses: number[] = [];
  const enough = 7;
  const clock: Clock = {
    nowMs: () => 0,
    sleep: async (ms, signal) => {
      const isPause = ![DEFAULT_LIMITS.answerTimeoutMs, DEFAULT_LIMITS.tidyMs].includes(ms);
      if (isPause && pauses.push(ms) < enough) return;
      await once(signal ?? new EventTarget(), 'abort');
    },
  };
  async function* ending(): AsyncGenerator<WatchEvent, void, undefined> {
    yield complete('5');
  }
  const kube = { get: never, list: never, watchOnce: ending };
  cache = narrowCache(kube, { clock, random: () => 0 });
  void cache.get(configMaps, name);
  await expect.poll(() => pauses.length).toBe(enough);
  expect(pauses).toEqual([50, 100, 200, 400, 800, 1_600, 3_200]);
});

const never = (): Promise<never> => Promise.reject(new Error('nobody asks here'));

test('what changes while initial events come is the state that they end with', async () => {
  const held = open(() => [
    { type: 'ADDED', object: object('2') },
    { type: 'DELETED', object: object('4') },
    complete('5'),
  ]);
  expect(await versionOf(held)).toBeUndefined();
});

test('an API server that refuses initial events is asked for them once', async () => {
  const about = { verb: 'watch', ref: configMaps, name: 'a' } as const;
  const refusal = errorFromAnswer(about, readStatus(422, JSON.stringify({ reason: 'Invalid' })));
  const watchesFrom: string[] = [];
  let end = Promise.withResolvers<void>();
  const late: (() => void)[] = [];
  const clock: Clock = {
    nowMs: () => 0,
    sleep: async (ms, signal) => {
      if (ms !== DEFAULT_LIMITS.answerTimeoutMs) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      signal?.addEventListener('abort', () => reject(signal.reason));
      late.push(resolve);
      await promise;
    },
  };
  async function* watching({ from }: WatchOptions): AsyncGenerator<WatchEvent, void, undefined> {
    watchesFrom.push(from === 'initial-events' ? from : 'after a list');
    if (from === 'initial-events') throw refusal;
    await end.promise;
    end = Promise.withResolvers();
    yield* [];
  }
  const kube: Kube = {
    get: never,
    list: async () => listOf('5', object('4')),
    watchOnce: (_, options) => watching(options),
  };
  cache = narrowCache(kube, { clock, limits: { tidyMs: DEFAULT_LIMITS.answerTimeoutMs } });
  expect(await versionOf(cache)).toBe('4');
  await expect.poll(() => watchesFrom).toHaveLength(2);
  for (const one of late) one();
  end.resolve();
  await expect.poll(() => watchesFrom.length).toBeGreaterThan(2);
  expect(watchesFrom.slice(0, 3)).toEqual(['initial-events', 'after a list', 'after a list']);
});

describe('a role that may only get', () => {
  const about = { verb: 'list', ref: configMaps, name: 'a' } as const;
  const refused = errorFromAnswer(about, readStatus(403, JSON.stringify({ reason: 'Forbidden' })));
  /** Each get is answered with the next of these. */
  function getting(...answers: readonly (KubeObject | null)[]): NarrowCache {
    const left = [...answers];
    const kube: Kube = {
      get: async () => left.shift() ?? null,
      list: () => Promise.reject(refused),
      watchOnce: () => refusing(),
    };
    cache = narrowCache(kube);
    return cache;
  }
  // oxlint-disable-next-line require-yield -- it is refused before its first event
  async function* refusing(): AsyncGenerator<WatchEvent, void, undefined> {
    throw refused;
  }

  test('sees the older object of an etcd that was set back', async () => {
    const held = getting(object('900'), object('500'), object('500'));
    expect(await versionOf(held)).toBe('900');
    expect(await versionOf(held)).toBe('500');
    expect(await versionOf(held)).toBe('500');
  });

  test('sees what was deleted and came again', async () => {
    const held = getting(object('5'), null, object('7'));
    expect(await versionOf(held)).toBe('5');
    expect(await versionOf(held)).toBeUndefined();
    expect(await versionOf(held)).toBe('7');
  });
});
