// Parts in an archive, from one machine to another without Go; and archives that nobody exported,
// of which nothing is taken, although their hash was told.
import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { tarOf } from '../../../knative/tools/images/tar.ts';
import { exportParts } from '../../../knative/try/local/parts/archive/export.ts';
import { importParts } from '../../../knative/try/local/parts/archive/import.ts';
import { cachedGroupDir } from '../../../knative/try/local/parts/cache.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import type { PartsSettings } from '../../../knative/try/local/parts/settings.ts';
import { type FakeMachine, fakeMachine, RecordingReporter } from './fake-go.ts';

const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
const { signal } = new AbortController();

const give = (from: FakeMachine, path: string, ...names: ('etcd' | 'nats-server')[]) =>
  exportParts(names, path, { settings: from.settings, signal, reporter: new RecordingReporter() });

const take = (to: FakeMachine, path: string, sha256: string) =>
  importParts(path, sha256, { settings: to.settings, signal, onWait: () => undefined });

const inCache = ({ settings }: FakeMachine): Promise<string[]> =>
  readdir(settings.cacheDir).catch(() => []);

test('parts that one machine has built are there on another one, which has no Go', async () => {
  await using builder = await fakeMachine({});
  await using other = await fakeMachine(undefined);
  const path = join(builder.dir, 'parts.tar.zst');
  const sha256 = await give(builder, path, 'etcd', 'nats-server');
  expect(hashOf(await readFile(path))).toBe(sha256);
  expect(await take(other, path, sha256)).toEqual(['nats-server', 'etcd']);
  const [built, taken] = await Promise.all(
    [builder, other].map(({ settings }) => resolvePart('etcd', { settings, check: 'full' })),
  );
  expect(taken).toContain(other.settings.cacheDir);
  expect(await readFile(taken ?? '', 'utf8')).toBe(await readFile(built ?? '', 'utf8'));
  expect((await stat(taken ?? '')).mode & 0o777).toBe(0o755);
  expect(await give(builder, path, 'etcd', 'nats-server')).toBe(sha256);
});

test('a whole part stays as it is, and a damaged one is replaced', async () => {
  await using machine = await fakeMachine({});
  const { settings } = machine;
  const path = join(machine.dir, 'parts.tar.zst');
  const sha256 = await give(machine, path, 'etcd');
  const etcd = await resolvePart('etcd', { settings });
  const { ino } = await stat(etcd);
  await take(machine, path, sha256);
  expect((await stat(etcd)).ino).toBe(ino);
  const content = await readFile(etcd);
  await writeFile(etcd, content.toString().toUpperCase());
  await take(machine, path, sha256);
  expect(await readFile(etcd)).toEqual(content);
});

test('what stands in a named directory or on PATH is not exported', async () => {
  await using machine = await fakeMachine({});
  await machine.script('bin', 'etcd', 'echo etcd Version: 3.6.1');
  await give(machine, join(machine.dir, 'parts.tar.zst'), 'etcd');
  const found = await resolvePart('etcd', { settings: machine.settings });
  expect(found).toBe(join(machine.dir, 'bin', 'etcd'));
  expect(await machine.goCalls()).not.toEqual([]);
});

test('an archive with another hash than was told is not even unpacked', async () => {
  await using machine = await fakeMachine(undefined);
  const path = join(machine.dir, 'parts.tar.zst');
  await writeFile(path, 'anything');
  const told = hashOf(Buffer.from('something'));
  await expect(take(machine, path, told)).rejects.toThrow('and not the one that was told');
  await expect(take(machine, join(machine.dir, 'none'), told)).rejects.toThrow('ENOENT');
});

const EVIL = Buffer.from('#!/bin/sh\necho evil\n');

interface Made {
  readonly platform?: string;
  readonly group?: string;
  readonly key?: string;
  readonly name?: string;
  readonly sha256?: string;
  readonly sizeBytes?: unknown;
  readonly path?: string;
  readonly mode?: number;
  readonly content?: { readonly kind: 'link'; readonly target: string };
  readonly contents?: string;
  readonly more?: boolean;
  /** A step of what was made. */
  readonly last?: (bytes: Buffer) => Buffer;
}

/** As an export has it, but for what is made otherwise. */
async function archiveOf(made: Made, settings: PartsSettings): Promise<Buffer> {
  const { group = 'etcd', name = 'etcd', platform = settings.platform, mode = 0o755 } = made;
  const { key = basename(await cachedGroupDir('etcd', settings)) } = made;
  const { sha256 = hashOf(EVIL), sizeBytes = EVIL.length, path = `${key}/${name}` } = made;
  const contents = {
    platform,
    groups: [{ group, key, go: 'x', binaries: [{ name, sha256, sizeBytes }] }],
  };
  const file = (of: string, bytes: Buffer, bits: number) => {
    const content = { kind: 'file', sizeBytes: bytes.length, read: () => [bytes] } as const;
    return { path: of, mode: bits, content };
  };
  const entries = [
    file('ballast-parts.json', Buffer.from(made.contents ?? JSON.stringify(contents)), 0o644),
    made.content === undefined ? file(path, EVIL, mode) : { path, mode, content: made.content },
    ...(made.more === true ? [file('more', EVIL, mode)] : []),
  ];
  const tar = await buffer(tarOf(entries));
  return (made.last ?? zstdCompressSync)(tar);
}

const compressed = (of: (tar: Buffer) => Buffer) => (tar: Buffer) => zstdCompressSync(of(tar));

test.each<readonly [string, Made, string]>([
  ['for another platform', { platform: 'plan9/mips' }, 'it is for plan9/mips'],
  ['of another version', { key: 'etcd-0123456789abcdef' }, 'etcd are of another version'],
  ['with a key that leaves the cache', { key: '../../bin' }, 'etcd are of another version'],
  ['with a binary of another name', { name: 'kubectl' }, 'etcd are of another version'],
  ['of a group that is none', { group: 'sshd' }, 'has no ballast-parts.json that'],
  ['of a group of JavaScript', { group: 'constructor' }, 'has no ballast-parts.json that'],
  ['with a path that leaves', { path: '../../../bin/sh' }, 'something else where etcd is to be'],
  ['with an absolute path', { path: '/bin/sh' }, 'something else where etcd is to be'],
  [
    'with a link',
    { content: { kind: 'link', target: '/bin/sh' } },
    'something else where etcd is to be',
  ],
  ['with other rights', { mode: 0o4755 }, 'something else where etcd is to be'],
  ['with other content', { sha256: '0'.repeat(64) }, 'etcd is damaged'],
  ['with another size', { sizeBytes: EVIL.length + 1 }, 'something else where etcd is to be'],
  ['with a size below none', { sizeBytes: -1 }, 'has no ballast-parts.json that'],
  ['with one file more', { more: true }, 'it has more than it says'],
  ['that says nothing', { contents: '{}' }, 'has no ballast-parts.json that'],
  ['that says no JSON', { contents: '{' }, 'has no ballast-parts.json that'],
  ['that says too much', { contents: ' '.repeat(1_000_001) }, 'is no archive of `npm run parts'],
  ['that is another tar', { last: compressed((tar) => tar.subarray(512)) }, 'is no archive of'],
  ['that is not compressed', { last: (tar) => tar }, 'is not taken'],
  [
    'with something behind its end',
    { last: compressed((tar) => Buffer.concat([tar, EVIL])) },
    'mo',
  ],
  ['that lacks its end', { last: compressed((tar) => tar.subarray(0, -600)) }, 'it is cut short'],
  ['cut within', { last: (tar) => zstdCompressSync(tar).subarray(0, 200) }, 'end of file'],
])('of an archive %s nothing is taken, whatever hash was told', async (_, made, why) => {
  await using machine = await fakeMachine(undefined);
  const path = join(machine.dir, 'parts.tar.zst');
  const bytes = await archiveOf(made, machine.settings);
  await writeFile(path, bytes);
  await expect(take(machine, path, hashOf(bytes))).rejects.toThrow(why);
  expect(await inCache(machine)).toEqual([]);
});

test('without any of that it is taken', async () => {
  await using machine = await fakeMachine(undefined);
  const path = join(machine.dir, 'parts.tar.zst');
  const bytes = await archiveOf({}, machine.settings);
  await writeFile(path, bytes);
  expect(await take(machine, path, hashOf(bytes))).toEqual(['etcd']);
});
