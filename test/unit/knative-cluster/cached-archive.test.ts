// An archive of images is written once for what is in it, and the old ones go, but none that
// somebody may be reading.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  cachedArchive,
  cachedArchiveOf,
} from '../../../knative/try/cluster/knative/cached-archive.ts';
import type { ImageSpec } from '../../../knative/tools/images/spec.ts';
import { partsSettings } from '../../../knative/try/local/parts/settings.ts';

let scratch = '';
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'ballast-archives-'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

const settings = () => partsSettings({ XDG_CACHE_HOME: scratch });
const images = (): string => join(settings().cacheDir, 'images');
const kept = (): string[] => readdirSync(images()).toSorted();

const HOUR_SECONDS = 3_600;
const age = (path: string, hours: number): void => {
  const seconds = Date.now() / 1000 - hours * HOUR_SECONDS;
  utimesSync(path, seconds, seconds);
};

function file(name: string, text: string): string {
  const path = join(scratch, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const spec = (host: string, more: Partial<ImageSpec> = {}): ImageSpec => ({
  name: 'dev.local/ballast/tried:0.1.0',
  files: [{ path: '/app/run', from: { host } }],
  entrypoint: ['/app/run'],
  ...more,
});

/** The name of the archive of a version, which was taken so many hours ago. */
async function cached(version: string, hoursAgo: number): Promise<string> {
  const path = await cachedArchive(spec(file(version, version)), settings());
  age(path, hoursAgo);
  return basename(path);
}

describe('what is written once', () => {
  test('the same bundle elsewhere, and newer, is not written again', async () => {
    const first = await cachedArchive(spec(file('one/run', 'hello')), settings());
    const { ino } = statSync(first);
    const elsewhere = file('two/run', 'hello');
    age(elsewhere, 5);
    expect(await cachedArchive(spec(elsewhere), settings())).toBe(first);
    expect(statSync(first).ino).toBe(ino);
  });

  test.each([
    ['a bundle of the same size', (host: string) => writeFileSync(host, 'jello'), {}],
    ['what its label says', () => undefined, { labels: { commit: 'abc' } }],
    ['the layer below', () => undefined, { base: [{ path: '/node', from: { text: '2' } }] }],
  ])('%s makes another archive', async (_what, change, more) => {
    const host = file('run', 'hello');
    const base = [{ path: '/node', from: { text: '1' } }];
    const before = await cachedArchive(spec(host, { base }), settings());
    change(host);
    expect(await cachedArchive(spec(host, { base, ...more }), settings())).not.toBe(before);
  });

  test('a large program is told by its time, and not read', async () => {
    const host = file('run', '');
    truncateSync(host, 5 * 1024 * 1024);
    const before = await cachedArchive(spec(host), settings());
    age(host, 1);
    expect(await cachedArchive(spec(host), settings())).not.toBe(before);
  });

  test('several images are one archive, in which they share the layer below', async () => {
    const host = file('run', 'hello');
    const base = [{ path: '/node', from: { text: 'n'.repeat(1_000_000) } }];
    const specs = ['one', 'two', 'three'].map((name) =>
      spec(host, { name: `dev.local/ballast/${name}:0.1.0`, base }),
    );
    const archive = await cachedArchiveOf('dev.local/ballast/all:0.1.0', specs, settings());
    expect(statSync(archive).size).toBeLessThan(1_100_000);
  });
});

describe('what goes', () => {
  test('the newest two stay', async () => {
    await cached('one', 4);
    const stay = [await cached('two', 3), await cached('three', 2)];
    expect(kept()).toEqual(stay.toSorted());
  });

  test('whoever took one has an hour to read it', async () => {
    const stay = [await cached('one', 0.9), await cached('two', 0.8), await cached('three', 0.7)];
    expect(kept()).toEqual(stay.toSorted());
  });

  test('one that is taken again counts as new', async () => {
    await cached('one', 4);
    await cached('two', 3);
    const stay = [await cached('one', 0), await cached('three', 0)];
    expect(kept()).toEqual(stay.toSorted());
  });

  test('another version of the image goes, another image stays', async () => {
    const host = file('run', 'hello');
    const names = ['nats:1.9.0', 'nats:v1.10.0', 'nats-server:1.0.0', 'nats:latest'];
    for (const [index, name] of [...names, 'nats:1.12.0', 'nats:2.0.0'].entries()) {
      age(await cachedArchive(spec(host, { name }), settings()), 10 - index);
    }
    const stay = kept().map((name) => name.replace(/-[0-9a-f]{16}\.tar$/, ''));
    expect(stay).toEqual(['nats-1.12.0', 'nats-2.0.0', 'nats-latest', 'nats-server-1.0.0']);
  });

  test('what a killed writer left goes after the hour, and nothing that is not ours', async () => {
    await cached('one', 1);
    const uuid = '123e4567-e89b-42d3-a456-426614174000';
    const remains = ['.layout-abc', `x-1-0123456789abcdef.tar.${uuid}`, 'notes.tar', 'other'];
    for (const name of remains) age(file(join('ballast/parts/images', name), ''), 2);
    const beingWritten = file('ballast/parts/images/.layout-now', '');
    await cachedArchive(spec(file('another', 'another')), settings());
    const archives = kept().filter((name) => name.startsWith('dev.local'));
    expect(kept().filter((name) => !archives.includes(name))).toEqual(
      [basename(beingWritten), 'notes.tar', 'other'].toSorted(),
    );
  });
});
