// The processor time of a cgroup, as each version of the kernel's files tells it.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Hierarchies, usedSeconds } from '../../../knative/try/cluster/cgroups.ts';

const NAME = 'ours';

/** A hierarchy of each of these files with its text. */
async function hierarchiesOf(
  version: Hierarchies['version'],
  ...files: readonly (readonly [name: string, text: string])[]
): Promise<Hierarchies> {
  const dir = await mkdtemp(join(tmpdir(), 'ballast-cgroups-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const roots = files.map(([name]) => join(dir, name));
  for (const [index, [name, text]] of files.entries()) {
    const own = join(roots[index] ?? '', NAME);
    await mkdir(own, { recursive: true });
    await writeFile(join(own, name), text);
  }
  return { version, roots };
}

test('version 1 counts in nanoseconds, in the hierarchy of that controller', async () => {
  const found = await hierarchiesOf(
    1,
    ['memory.usage_in_bytes', '7\n'],
    ['cpuacct.usage', '2500000000\n'],
    ['cpu.stat', 'usage_usec 0\n'],
  );
  expect(await usedSeconds(NAME, found)).toBe(2.5);
});

test('version 2 counts in microseconds', async () => {
  const text = 'usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n';
  expect(await usedSeconds(NAME, await hierarchiesOf(2, ['cpu.stat', text]))).toBe(2.5);
});

test('where nobody counts, nobody says that it was nothing', async () => {
  await expect(usedSeconds(NAME, await hierarchiesOf(1, ['cpu.stat', '']))).rejects.toThrow(
    'no hierarchy counts the time of ours',
  );
});
