// A release, with the images of two functions: it is the same when made again, its hashes and its
// signature hold, and what is applied from it names images by their digests.
import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync, verify } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeRelease } from '../../../knative/tools/release/release.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { faultsOf, readBill } from '../../builders/cyclonedx.ts';
import { helmIn, objectsIn } from '../../builders/helm.ts';
import { runProgram } from '../../builders/run-program.ts';

const REPOSITORY = 'images.example.com/ballast';
const FUNCTIONS = ['conversion', 'etcd-backup'];
const SUMS = 'SHA256SUMS';
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

let dir: string;
let release: string;
let sums: string;
/** By function, with the repository. */
let images: Readonly<Record<string, string>>;

const make = async (outDir: string): Promise<void> => {
  const url = 'https://example.com/v1';
  const order = { functions: FUNCTIONS, outDir, repository: REPOSITORY, url, key: privateKey };
  await makeRelease(order, () => undefined);
};

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ballast-release-'));
  release = join(dir, 'one');
  await make(release);
  sums = await readFile(join(release, SUMS), 'utf8');
  const lines = (await readFile(join(release, 'images.txt'), 'utf8')).trim().split('\n');
  images = Object.fromEntries(
    lines.map((line) => {
      const [, name = '', digest = ''] =
        /\/([a-z-]+):[\d.]+@(sha256:[0-9a-f]{64})$/.exec(line) ?? [];
      return [name, `${REPOSITORY}/${name}@${digest}`];
    }),
  );
});

afterAll(() => rm(dir, { recursive: true, force: true }));

test('every file is in the sums, which are signed, and nothing else is there', async () => {
  const names = (await readdir(release)).toSorted();
  const listed = sums
    .trim()
    .split('\n')
    .map((line) => line.slice(66));
  expect([...listed, SUMS, `${SUMS}.sig`].toSorted()).toEqual(names);
  expect(names).toEqual(expect.arrayContaining(['ballast.yaml', 'kubectl-ballast.cjs']));
  for (const name of listed) {
    const content = await readFile(join(release, name));
    expect(sums).toContain(`${createHash('sha256').update(content).digest('hex')}  ${name}\n`);
  }
  const signature = await readFile(join(release, `${SUMS}.sig`));
  expect(verify('sha256', Buffer.from(sums), publicKey, signature)).toBe(true);
});

test('another one of the same sources has the same bytes', async () => {
  const other = join(dir, 'other');
  await make(other);
  expect(await readFile(join(other, SUMS), 'utf8')).toBe(sums);
});

test('manifests name each image by its digest, and so do the pods of backups', async () => {
  const archive = (await readdir(release)).find((name) => name.startsWith('ballast-manifests-'));
  const unpacked = join(dir, 'manifests');
  await mkdir(unpacked);
  execFileSync('tar', ['-xzf', join(release, archive ?? '')], { cwd: unpacked });
  expect((await readdir(join(unpacked, 'knative'))).toSorted()).toEqual(
    expect.not.arrayContaining(['tools', 'try']),
  );
  const kubectl = await resolvePart('kubectl');
  const kustomized = async (folder: string): Promise<string> => {
    const { out, err } = await runProgram(kubectl, ['kustomize', join(unpacked, folder)]);
    expect(err).toBe('');
    return out;
  };
  const all = await kustomized('knative');
  expect(all).toContain(`image: ${images['etcd-backup']}\n`);
  expect(all).toContain(`ETCD_BACKUP_IMAGE: ${images['etcd-backup']}\n`);
  expect(all).not.toContain('dev.local/ballast/etcd-backup');
  const served = await kustomized('knative/overlays/timeline/1-served');
  expect(served).toContain(`image: ${images['conversion']}\n`);
});

test('the chart takes the digests as values', async () => {
  const chart = (await readdir(release)).find((name) => /^ballast-\d.*\.tgz$/.test(name));
  const values = join(release, 'images-values.yaml');
  const helm = helmIn(join(dir, 'home'));
  const { out } = await helm('template', 'x', join(release, chart ?? ''), '--values', values);
  const objects = JSON.stringify(objectsIn(out));
  expect(objects).toContain(`"image":"${images['etcd-backup']}"`);
  expect(objects).toContain(`"image":"${REPOSITORY}/metadata:`);
});

test('each file with code has a bill, with all that is in it', () => {
  const named = (file: string): readonly string[] => {
    const bill = readBill(join(release, `${file}.cdx.json`));
    expect(faultsOf(bill)).toBeNull();
    return bill.components.map(({ name }) => name);
  };
  expect(named('etcd-backup')).toEqual(expect.arrayContaining(['node', 'express', 'aws4fetch']));
  const plugin = named('kubectl-ballast');
  expect(plugin).toEqual(expect.arrayContaining(['node', 'nats', 'yaml', 'aws4fetch']));
  expect(plugin).not.toContain('express');
  expect(named('ballast-reader').toSorted()).toEqual(['nats', 'nkeys.js', 'tweetnacl']);
});

test('a directory with something else is left alone', async () => {
  const mine = join(dir, 'mine');
  await mkdir(mine);
  await writeFile(join(mine, 'letter'), '');
  await expect(make(mine)).rejects.toThrow('holds something else than a release');
  expect(await readdir(mine)).toEqual(['letter']);
});
