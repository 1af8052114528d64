// An image is what a registry tool expects, byte for byte the same wherever it is built, and read
// here by the machine's own tar.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Image, writeImage } from '../../../knative/tools/images/image.ts';
import { filesBelow } from '../../../knative/tools/images/layer.ts';
import { writeArchive } from '../../../knative/tools/images/layout.ts';
import { librariesOf } from '../../../knative/tools/images/libraries.ts';
import type { ImageFile, ImageSpec } from '../../../knative/tools/images/spec.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ballast-image-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const spec = (files: readonly ImageFile[], more: Partial<ImageSpec> = {}): ImageSpec => ({
  name: 'dev.local/ballast/tried:0.1.0',
  files,
  entrypoint: ['/app/run'],
  ...more,
});

const read = (...path: string[]): unknown =>
  JSON.parse(readFileSync(join(directory, ...path), 'utf8'));

const blobPath = (digest: string): string => join('blobs', ...digest.split(':'));

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string }[];
}

const layersOf = (image: Image): string[] =>
  (read('image', blobPath(image.digest)) as Manifest).layers.map(({ digest }) =>
    join(image.directory, blobPath(digest)),
  );

const write = (image: ImageSpec, to = 'image'): Promise<Image> =>
  writeImage(image, join(directory, to));

describe('an image', () => {
  it('is a layout whose blobs have the names of their content', async () => {
    const image = await write(spec([{ path: '/app/run', from: { text: 'hello' } }]));
    const blobs = join(image.directory, 'blobs/sha256');
    const index = read('image/index.json') as { manifests: { digest: string }[] };

    expect(read('image/oci-layout')).toEqual({ imageLayoutVersion: '1.0.0' });
    expect(index.manifests).toMatchObject([
      {
        digest: image.digest,
        annotations: {
          'io.containerd.image.name': 'dev.local/ballast/tried:0.1.0',
          'org.opencontainers.image.ref.name': '0.1.0',
        },
      },
    ]);
    for (const name of readdirSync(blobs)) {
      const content = readFileSync(join(blobs, name));
      expect(createHash('sha256').update(content).digest('hex')).toBe(name);
    }
  });

  it('starts as nobody in particular, with what the spec says', async () => {
    const image = await write(
      spec([], { env: { A: '1', B: 'x=y' }, workingDir: '/app', labels: { l: 'v' } }),
    );
    const { config } = read('image', blobPath(image.digest)) as Manifest;

    expect(read('image', blobPath(config.digest))).toMatchObject({
      os: 'linux',
      config: {
        User: '65532:65532',
        Env: ['A=1', 'B=x=y'],
        Entrypoint: ['/app/run'],
        WorkingDir: '/app',
        Labels: { l: 'v' },
      },
    });
  });

  it('holds files, links and directories with modes, parents first, all of root', async () => {
    writeFileSync(join(directory, 'program'), '#!/bin/sh\n', { mode: 0o700 });
    const long = `/app/${'d'.repeat(60)}/${'e'.repeat(80)}`;
    const image = await write(
      spec([
        { path: '/app/run', mode: 0o755, from: { host: join(directory, 'program') } },
        { path: long, from: { text: 'far down' } },
        { path: '/app/current', from: { link: 'run' } },
        { path: '/tmp', mode: 0o1777, from: { directory: true } },
      ]),
    );
    const [layer = ''] = layersOf(image);
    const listed = execFileSync('tar', ['-tvf', layer, '--utc'], { encoding: 'utf8' });

    expect(
      listed
        .trim()
        .split('\n')
        .map((line) => line.replaceAll(/\s+/g, ' ')),
    ).toEqual([
      'drwxr-xr-x 0/0 0 1970-01-01 00:00 app/',
      'lrwxrwxrwx 0/0 0 1970-01-01 00:00 app/current -> run',
      `drwxr-xr-x 0/0 0 1970-01-01 00:00 app/${'d'.repeat(60)}/`,
      `-rw-r--r-- 0/0 8 1970-01-01 00:00 ${long.slice(1)}`,
      '-rwxr-xr-x 0/0 10 1970-01-01 00:00 app/run',
      'drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp/',
    ]);
    execFileSync('tar', ['-xf', layer, '-C', directory, 'app/run', long.slice(1)]);
    expect(readFileSync(join(directory, long), 'utf8')).toBe('far down');
  });

  it('is the same whatever the order of its files and wherever it is written to', async () => {
    const files: ImageFile[] = ['b', 'a', 'a-b', 'a/c'].map((name) => ({
      path: `/x/${name}.d/f`,
      from: { text: name },
    }));
    const one = await write(spec(files), 'one');
    const two = await write(spec(files.toReversed()), 'two');
    await writeArchive(one.directory, join(directory, 'one.tar'));
    await writeArchive(two.directory, join(directory, 'two.tar'));

    expect(two.digest).toBe(one.digest);
    expect(readFileSync(join(directory, 'two.tar'))).toEqual(
      readFileSync(join(directory, 'one.tar')),
    );
  });

  it('shares the layer below with every image of the same base', async () => {
    const base: ImageFile[] = [{ path: '/usr/bin/node', from: { text: 'node' } }];
    const digests = [];
    for (const text of ['one', 'two']) {
      const image = await write(spec([{ path: '/app/run', from: { text } }], { base }));
      digests.push(layersOf(image).map((path) => path.split('/').at(-1)));
    }

    expect(digests[0]?.[0]).toBe(digests[1]?.[0]);
    expect(digests[0]?.[1]).not.toBe(digests[1]?.[1]);
  });

  it('replaces an image, and nothing else', async () => {
    const old = await write(spec([{ path: '/a', from: { text: 'old' } }]));
    const image = await write(spec([{ path: '/a', from: { text: 'new' } }]));
    expect(readdirSync(join(image.directory, 'blobs/sha256'))).toHaveLength(3);
    expect(image.digest).not.toBe(old.digest);

    await expect(writeImage(spec([]), directory)).rejects.toThrow('something else than an image');
    expect(readdirSync(directory)).toEqual(['image']);
  });

  it.each([
    ['two files at one path', [file('/a'), file('/a')], 'two files at /a'],
    ['a file below a file', [file('/a'), file('/a/b')], '/a is no directory'],
    ['a path that is not plain', [file('/a/../b')], 'absolute and plain'],
    ['a path without a beginning', [file('a')], 'absolute and plain'],
    ['a name that no tar can hold', [file(`/${'a'.repeat(101)}`)], 'too long for a tar'],
  ])('refuses %s, and leaves nothing behind', async (_, files, reason) => {
    await expect(write(spec(files))).rejects.toThrow(reason);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('refuses a name without a tag', async () => {
    await expect(write(spec([], { name: 'dev.local/ballast/x' }))).rejects.toThrow('no name of an');
  });
});

function file(path: string): ImageFile {
  return { path, from: { text: path } };
}

describe('what is found on this machine', () => {
  it('is a tree, of which only who may run a file stays', async () => {
    writeFileSync(join(directory, 'data'), '', { mode: 0o600 });
    writeFileSync(join(directory, 'program'), '', { mode: 0o711 });
    const files = await filesBelow(directory, '/app');

    expect(Object.fromEntries(files.map(({ path, mode }) => [path, mode]))).toEqual({
      '/app/data': 0o644,
      '/app/program': 0o755,
    });
  });

  it('is the loader and the libraries of a program, enough to run it', async () => {
    const libraries = await librariesOf(process.execPath);

    expect(libraries.map(({ path }) => path)).toContainEqual(expect.stringContaining('libc.so'));
    expect(libraries.map(({ path }) => path)).toContainEqual(expect.stringMatching(/\/ld-linux/));
  });
});
