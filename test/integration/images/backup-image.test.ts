// The image of etcd-backup has the program that its Jobs run beside the function, and that one
// works where nothing but Node is: as anybody, with no home, from a read-only root.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobManifest } from '../../../functions/etcd-backup/render/job.ts';
import { backup, SECRET } from '../../unit/etcd-backup/samples.ts';
import { start, unpack, type Unpacked } from './unpacked.ts';

const root = resolve(import.meta.dirname, '../../..');
const out = mkdtempSync(join(tmpdir(), 'ballast-images-'));
let image: Unpacked;

beforeAll(() => {
  const build = ['knative/tools/images/main.ts', '--out', out, '--archive', 'etcd-backup'];
  execFileSync(process.execPath, build, { cwd: root, stdio: 'ignore' });
  image = unpack(join(out, 'etcd-backup'), join(out, 'root'));
});
afterAll(() => rmSync(out, { recursive: true, force: true }));

test('the command of a Job is there, and says what it lacks', async () => {
  const { spec } = jobManifest(backup(), { endpoints: ['http://127.0.0.1:1'] }, 'ours:1', SECRET);
  const { command, args } = Object(spec).template.spec.containers[0];
  const child = start(image, {}, [...command, ...args]);
  const ended = once(child, 'exit');
  if (child.stdout === null) throw new Error('It has no output.');
  expect(await json(child.stdout)).toMatchObject({
    outcome: 'failed',
    error: { code: 'S3_ACCESS_UNUSABLE', message: expect.stringContaining('.aws/credentials') },
  });
  expect(await ended).toEqual([1, null]);
});
