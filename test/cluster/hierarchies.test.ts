// The cgroup hierarchies that a cluster makes its directories in, on machines where others have
// mounted them too.
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { hierarchies } from '../../knative/try/cluster/cgroups.ts';

const CGROUPS = resolve(import.meta.dirname, '../../knative/try/cluster/cgroups.ts');

test('one that is mounted at a second place is counted once', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'ballast-hierarchies-'));
  try {
    const before = await hierarchies();
    const script = `
      mount --bind '${before.roots[0] ?? ''}' '${scratch}' || exit 1
      exec "$0" -e 'import("${CGROUPS}").then(async (module) =>
        console.log(JSON.stringify(await module.hierarchies())))'
    `;
    const { stdout, stderr } = spawnSync(
      'unshare',
      ['--mount', 'sh', '-c', script, process.execPath],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual(before);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
});
