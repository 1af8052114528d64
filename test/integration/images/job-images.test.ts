// The images of functions that work in Jobs have the programs that these run, and each works where
// nothing but Node is: as anybody, with no home, from a read-only root. It says what it lacks there
// in a line that its function reads.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobManifest as backupJob } from '../../../functions/etcd-backup/render/job.ts';
import { removalManifest } from '../../../functions/etcd-backup/schedule/render/removal.ts';
import { etcdRestoreOf } from '../../../functions/etcd-restore/object.ts';
import { jobManifest as restoreJob } from '../../../functions/etcd-restore/render/job.ts';
import type { EtcdClusterSpec } from '../../../shared/api/etcd-cluster.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { backup, FACTS, SECRET } from '../../unit/etcd-backup/samples.ts';
import { LOCATION, SPEC } from '../../unit/etcd-restore/samples.ts';
import { start, unpack, type Unpacked } from './unpacked.ts';

const root = resolve(import.meta.dirname, '../../..');
const out = mkdtempSync(join(tmpdir(), 'ballast-images-'));
const NAMES = ['etcd-backup', 'etcd-restore'] as const;
const images = new Map<string, Unpacked>();

beforeAll(() => {
  const build = ['knative/tools/images/main.ts', '--out', out, ...NAMES];
  execFileSync(process.execPath, build, { cwd: root, stdio: 'ignore' });
  for (const name of NAMES) images.set(name, unpack(join(out, name), join(out, `${name}-root`)));
});
afterAll(() => rmSync(out, { recursive: true, force: true }));

const OURS = 'ours:1';

const restore = etcdRestoreOf({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'EtcdRestore',
  metadata: { namespace: 'shop', name: 'back', uid: 'a-uid', resourceVersion: '1' },
  spec: SPEC,
});

const JOBS: Readonly<Record<string, { of: (typeof NAMES)[number]; job: () => Manifest }>> = {
  'takes a backup': {
    of: 'etcd-backup',
    job: () => backupJob(backup(), { endpoints: ['http://127.0.0.1:1'] }, OURS, SECRET),
  },
  'removes one': { of: 'etcd-backup', job: () => removalManifest(backup(), FACTS, OURS) },
  'restores one': {
    of: 'etcd-restore',
    job: () => {
      const from = {
        from: LOCATION,
        location: LOCATION,
        s3: { bucket: 'backups', credentials: { secretName: 's3' } },
      };
      // The API server has filled it in.
      const target = SPEC.etcdCluster.spec as unknown as EtcdClusterSpec;
      return restoreJob({ restore, backup: from, target, image: OURS });
    },
  },
};

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly args: readonly string[];
}

/** Without a volume, and without keys of an object storage. */
const LACKS: Readonly<Record<string, object>> = {
  backup: { code: 'S3_ACCESS_UNUSABLE', message: expect.stringContaining('.aws/credentials') },
  check: { code: 'DISK_UNWRITABLE', message: expect.stringContaining('/var/lib/etcd/restore') },
  confirm: { message: expect.stringContaining('/var/lib/etcd/restore/notes.json') },
};

test.each(Object.entries(JOBS))('what the pod of a Job runs that %s', async (_, { of, job }) => {
  const image = images.get(of);
  if (image === undefined) throw new Error(`there is no image of ${of}`);
  const { initContainers = [], containers } = Object(job().spec).template.spec;
  const all: readonly Container[] = [...initContainers, ...containers];
  const ours = all.filter((one) => one.image === OURS);
  expect(ours.length).toBeGreaterThan(0);
  for (const { name, command, args } of ours) {
    const child = start(image, {}, [...command, ...args]);
    const ended = once(child, 'exit');
    if (child.stdout === null) throw new Error('It has no output.');
    const said: unknown = await json(child.stdout);
    const wanted = { name, outcome: 'failed', error: LACKS[name] ?? {} };
    expect({ name, ...Object(said) }).toMatchObject(wanted);
    expect([name, await ended]).toEqual([name, [1, null]]);
  }
});
