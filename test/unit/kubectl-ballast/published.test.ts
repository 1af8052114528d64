// The archive in which kubectl ballast is published is the same for the same files, and krew takes
// the manifest beside it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { writeArchive } from '../../../knative/tools/build/plugin/archive.ts';
import { withNote } from '../../../knative/tools/build/plugin/elf.ts';
import { krewManifest } from '../../../knative/tools/build/plugin/krew.ts';

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ballast-published-'));
});

afterEach(async () => {
  await rm(dir, { recursive: true });
});

test('the archive holds the files with their modes, and its hash is told', async () => {
  const program = join(dir, 'program');
  await writeFile(program, 'x'.repeat(100_000));
  const files = [
    { path: 'kubectl-ballast', isExecutable: true, from: { host: program } },
    { path: 'LICENSE', from: { text: 'do\n' } },
  ];
  const [one, other] = [join(dir, 'one.tar.gz'), join(dir, 'other.tar.gz')];
  const sha256 = await writeArchive(files, one);
  expect(
    createHash('sha256')
      .update(await readFile(one))
      .digest('hex'),
  ).toBe(sha256);
  expect(await writeArchive(files, other)).toBe(sha256);
  const listed = execFileSync('tar', ['tvzf', one], { encoding: 'utf8' }).trim().split('\n');
  expect(listed.map((line) => line.split(/\s+/))).toEqual([
    expect.arrayContaining(['-rwxr-xr-x', '100000', 'kubectl-ballast']),
    expect.arrayContaining(['-rw-r--r--', '3', 'LICENSE']),
  ]);
});

test('the manifest says all that krew asks for, of each archive', () => {
  const sha256 = 'a'.repeat(64);
  const at = (arch: 'amd64' | 'arm64') => ({
    os: 'linux' as const,
    arch,
    uri: `https://example.com/${arch}.tar.gz`,
    sha256,
  });
  const manifest = parse(stringify(krewManifest('0.1.0', [at('amd64'), at('arm64')])));
  expect(manifest).toMatchObject({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    // The command is the name of the plugin: kubectl-ballast is `kubectl ballast`.
    metadata: { name: 'ballast' },
  });
  const { version, shortDescription, description, platforms } = manifest.spec;
  expect(version).toMatch(/^v\d+\.\d+\.\d+$/);
  // More is cut off where krew lists plugins.
  expect(shortDescription.length).toBeLessThanOrEqual(50);
  expect(shortDescription).not.toMatch(/\.$|\n/);
  expect(description).toContain('etcd');
  expect(platforms).toEqual(
    ['amd64', 'arm64'].map((arch) => ({
      selector: { matchLabels: { os: 'linux', arch } },
      uri: `https://example.com/${arch}.tar.gz`,
      sha256,
      bin: 'kubectl-ballast',
      files: [{ from: '*', to: '.' }],
    })),
  );
});

test('nothing is put into a program that is laid out otherwise', () => {
  const header = Buffer.alloc(4_096);
  expect(() => withNote(header, 'NAME', Buffer.alloc(1))).toThrow('no 64-bit program of Linux');
  header.write('\u007fELF\u0002\u0001', 'latin1');
  header.writeBigUInt64LE(64n, 32);
  header.writeUInt16LE(56, 54);
  // About the table itself, code, and a note.
  const types = [6, 1, 4];
  header.writeUInt16LE(types.length, 56);
  for (const [index, type] of types.entries()) header.writeUInt32LE(type, 64 + 56 * index);
  // A program that may be put anywhere, and one that has its place.
  header.writeUInt16LE(3, 16);
  expect(() => withNote(header, 'NAME', Buffer.alloc(1))).toThrow('laid out otherwise');
  header.writeUInt16LE(2, 16);
  expect(withNote(header, 'NAME', Buffer.alloc(1))).toHaveLength(3);
});
