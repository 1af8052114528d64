// A directory that is the cluster's own memory, on machines that have mounted something there, as
// systemd does at /run.
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ISOLATION = resolve(import.meta.dirname, '../../knative/try/cluster/inside/isolation.ts');

test('what the machine has mounted there is unmounted, and not only covered', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'ballast-own-memory-'));
  try {
    const script = `
      mount -t tmpfs machine '${dir}' && mkdir '${dir}/below' || exit 1
      mount -t tmpfs machine '${dir}/below' && mount -t tmpfs machine '${dir}' || exit 1
      "$0" -e 'import("${ISOLATION}").then((module) => module.ownMemory("${dir}"))' || exit 1
      grep '${dir}' /proc/self/mounts | cut -d ' ' -f 1
    `;
    const args = ['--mount', 'sh', '-c', script, process.execPath];
    const { stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(stdout).toBe('tmpfs\n');
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
