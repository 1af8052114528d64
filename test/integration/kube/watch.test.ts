// Watches that outlive what happens to connections and API servers, and never outrun their reader.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { WatchEvent, WatchOptions } from '../../../shared/kube/watch.ts';
import { type Front, withFrontEach } from './front.ts';
import { configMap, configMaps, namespace } from './world.ts';

let admin: KubeClient;
let front: Front;
let kube: KubeClient;
let end: AbortController;

withFrontEach((given) => {
  ({ admin, front, kube } = given);
});

beforeEach(() => {
  end = new AbortController();
});

afterEach(() => end.abort(new Error('the test is over')));

const write = (name: string, value: string, labels: Record<string, string> = {}) => {
  const manifest = configMap(name, { value });
  return admin.apply(
    configMaps,
    { ...manifest, metadata: { ...manifest.metadata, labels } },
    { force: true },
  );
};
const now = async (): Promise<string> => (await admin.list(configMaps)).metadata.resourceVersion;

/** The events so far, in short: `ADDED a=1`. */
function follow(options: Omit<WatchOptions, 'signal'>) {
  const all: string[] = [];
  // The API server sends bookmarks when it likes to: they are in `all` only.
  const events: string[] = [];
  const ended = (async () => {
    const watch = kube.watch(configMaps, { namespace, ...options, signal: end.signal });
    for await (const event of watch) {
      all.push(inShort(event));
      if (inShort(event) !== 'BOOKMARK') events.push(inShort(event));
    }
  })();
  // Its end is still seen by a later reader.
  ended.catch(() => undefined);
  return { all, events, ended };
}

function inShort(event: WatchEvent): string {
  if (event.type === 'RESTART') return event.type;
  if (event.type === 'BOOKMARK') return event.isInitialEventsEnd ? 'COMPLETE' : 'BOOKMARK';
  const { metadata, data } = event.object;
  return `${event.type} ${metadata.name}=${(data as { value: string }).value}`;
}

describe('a watch', () => {
  test('goes on from where it was when its connection is cut', async () => {
    const labelSelector = 'watch=cut';
    const labels = { watch: 'cut' };
    const { events } = follow({ labelSelector, from: { resourceVersion: await now() } });
    await write('cut-a', '1', labels);
    await expect.poll(() => events).toEqual(['ADDED cut-a=1']);
    front.cutAll();
    await write('cut-a', '2', labels);
    await write('cut-b', '1', labels);
    await admin.delete(
      configMaps,
      { namespace, name: 'cut-b' },
      { precondition: 'none', because: 'the test made it' },
    );
    const all = ['ADDED cut-a=1', 'MODIFIED cut-a=2', 'ADDED cut-b=1', 'DELETED cut-b=1'];
    await expect.poll(() => events, { timeout: 10_000 }).toEqual(all);
  });

  test('starts with what there is, and says when that is complete', async () => {
    const labels = { watch: 'initial' };
    await write('initial-a', '1', labels);
    await write('initial-b', '1', labels);
    const { events } = follow({ labelSelector: 'watch=initial', from: 'initial-events' });
    await expect.poll(() => events).toEqual(['ADDED initial-a=1', 'ADDED initial-b=1', 'COMPLETE']);
    await write('initial-b', '2', labels);
    await expect.poll(() => events.at(-1)).toBe('MODIFIED initial-b=2');
  });

  test('of one object sees no other', async () => {
    await write('one', '1');
    const { events } = follow({ fieldSelector: 'metadata.name=one', from: 'initial-events' });
    await expect.poll(() => events).toEqual(['ADDED one=1', 'COMPLETE']);
    await write('two', '1');
    await write('one', '2');
    await expect.poll(() => events).toEqual(['ADDED one=1', 'COMPLETE', 'MODIFIED one=2']);
  });

  test('with a time to live ends by itself, with a bookmark that covers every change', async () => {
    const fieldSelector = 'metadata.name=bounded';
    const from = 'initial-events' as const;
    const { all, events, ended } = follow({ fieldSelector, from, timeoutSeconds: 5 });
    await expect.poll(() => events).toEqual(['COMPLETE']);
    await write('bounded', '1');
    await ended;
    expect(events).toEqual(['COMPLETE', 'ADDED bounded=1']);
    expect(all.lastIndexOf('BOOKMARK')).toBeGreaterThan(all.indexOf('ADDED bounded=1'));
  });

  test('ends with the reason of its signal', async () => {
    const { events, ended } = follow({
      fieldSelector: 'metadata.name=one',
      from: 'initial-events',
    });
    await expect.poll(() => events.at(-1)).toBe('COMPLETE');
    const reason = new Error('enough');
    end.abort(reason);
    await expect(ended).rejects.toBe(reason);
  });

  test('that breaks before it is complete begins again, and says so', async () => {
    const labels = { watch: 'restart' };
    for (const name of ['restart-a', 'restart-b', 'restart-c'])
      await write(name, 'x'.repeat(50_000), labels);
    const meets = (_: string, url: string): boolean => url.includes('sendInitialEvents');
    front.faults.push({ meets, does: { cutAfterBytes: 110_000 } });
    const names: string[] = [];
    for await (const event of kube.watch(configMaps, {
      namespace,
      labelSelector: 'watch=restart',
      from: 'initial-events',
      signal: end.signal,
    })) {
      names.push(inShort(event).split('=')[0] ?? '');
      if (names.at(-1) === 'COMPLETE') break;
    }
    const restart = names.indexOf('RESTART');
    expect(restart).toBeGreaterThan(0);
    expect(names.slice(restart + 1)).toEqual([
      'ADDED restart-a',
      'ADDED restart-b',
      'ADDED restart-c',
      'COMPLETE',
    ]);
  });
});

test('a reader that pauses stops the API server, and misses nothing', async () => {
  const count = 80;
  const labels = { watch: 'slow' };
  const value = 'x'.repeat(500_000);
  for (let index = 0; index < count; index += 1) await write(`slow-${index}`, value, labels);
  const watch = kube.watch(configMaps, {
    namespace,
    labelSelector: 'watch=slow',
    from: 'initial-events',
    signal: end.signal,
  });
  await watch.next();
  let last = -1;
  const isStill = (): boolean => last === (last = front.bytesRead());
  await expect.poll(isStill, { interval: 500, timeout: 20_000 }).toBe(true);
  expect(front.bytesRead()).toBeLessThan((count * value.length) / 2);
  const names = new Set(['slow-0']);
  for await (const event of watch) {
    if (event.type === 'BOOKMARK') break;
    if (event.type === 'ADDED') names.add(event.object.metadata.name);
  }
  expect(names.size).toBe(count);
});
