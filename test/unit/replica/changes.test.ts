// Consumers of changes: each at its own pace, all of them told the truth, none of them a burden.
import { expect, test } from 'vitest';
import { type Change, Changes } from '../../../shared/nats/replica/changes.ts';
import type { Entry } from '../../../shared/nats/replica/entry.ts';

const entryOf = (name: string, version: number): Entry => ({
  subject: `all._.pods.web.${name}`,
  version,
  fingerprint: { high: 0, low: version },
  key: { resource: 'pods', namespace: 'web', name },
  place: 'all',
  object: { epoch: 1, kind: 'Pod', name, uid: name, resourceVersion: String(version) },
});

class Held {
  readonly entries = new Map<string, Entry>();
  version = 0;
  readonly changes = new Changes(() => ({
    version: this.version,
    entries: this.entries.values(),
  }));

  put(name: string): void {
    this.version += 1;
    const entry = entryOf(name, this.version);
    const previous = this.entries.get(name);
    this.entries.set(name, entry);
    const { version } = entry;
    if (previous === undefined) this.changes.emit({ type: 'added', version, entry });
    else this.changes.emit({ type: 'changed', version, entry, previous });
  }
}

const inWords = (change: Change | undefined): string =>
  change === undefined
    ? 'end'
    : change.type === 'resync'
      ? `resync at ${change.version}, missed ${change.missed}`
      : `${change.type} ${change.entry.key.name} ${change.version}`;

const next = async (stream: AsyncGenerator<Change, void>): Promise<string> => {
  const { value } = await stream.next();
  return inWords(value ?? undefined);
};

test('a consumer is told what is held, and then what changes', async () => {
  const held = new Held();
  held.put('a');
  const stream = held.changes.stream();
  expect(await next(stream)).toBe('added a 1');
  held.put('a');
  held.put('b');
  expect([await next(stream), await next(stream)]).toEqual(['changed a 2', 'added b 3']);
  const waiting = next(stream);
  held.put('b');
  expect(await waiting).toBe('changed b 4');
});

test('one that is too slow loses its place, is told so once, and starts over', async () => {
  const held = new Held();
  held.put('a');
  const [slow, quick] = [held.changes.stream(), held.changes.stream()];
  await Promise.all([next(slow), next(quick)]);
  for (let at = 0; at < 12_000; at += 1) {
    held.put(`p${at % 3}`);
    await next(quick);
  }
  expect(held.changes.slow).toBe(1);
  expect(await next(slow)).toBe('resync at 12001, missed 12000');
  held.put('p0');
  const names = [];
  for (let at = 0; at < 5; at += 1) names.push(await next(slow));
  expect(names).toEqual([
    'added a 1',
    'added p0 11999',
    'added p1 12000',
    'added p2 12001',
    'changed p0 12002',
  ]);
});

test('losing its place again while it starts over, it starts over again', async () => {
  const held = new Held();
  held.put('a');
  held.put('b');
  const stream = held.changes.stream();
  await next(stream);
  for (let at = 0; at < 10_001; at += 1) held.put('a');
  expect(await next(stream)).toBe('resync at 10003, missed 10001');
  expect(await next(stream)).toBe('added a 10003');
  for (let at = 0; at < 10_001; at += 1) held.put('b');
  expect(await next(stream)).toBe('resync at 20004, missed 10001');
  expect([await next(stream), await next(stream)]).toEqual(['added a 10003', 'added b 20004']);
});

test('a stream ends with its signal, with close, and when its consumer leaves', async () => {
  const held = new Held();
  const stop = new AbortController();
  const stopped = held.changes.stream(stop.signal);
  const waiting = next(stopped);
  stop.abort();
  expect(await waiting).toBe('end');
  const closed = held.changes.stream();
  const alsoWaiting = next(closed);
  held.changes.close();
  expect(await alsoWaiting).toBe('end');
  expect(await next(held.changes.stream())).toBe('end');
});
