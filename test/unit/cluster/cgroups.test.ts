// The kernel's files of cgroups, as each version has them: which hierarchies count, what a new
// directory is given, and what processor time it tells. The files here are plain ones.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  type Hierarchies,
  hierarchiesIn,
  makeCgroup,
  makeChildCgroup,
  usedSeconds,
} from '../../../knative/try/cluster/cgroups.ts';

const NAME = 'ours';

async function scratch(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'ballast-cgroups-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

/** A hierarchy of each of these files with its text. */
async function hierarchiesOf(
  version: Hierarchies['version'],
  ...files: readonly (readonly [name: string, text: string])[]
): Promise<Hierarchies> {
  const dir = await scratch();
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

const UNIFIED = 'cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0';
const NET_CLS = 'net_cls /run/net_cls cgroup rw,net_cls 0 0';

test('version 2 rules where it is mounted at the place that a kubelet looks at', () => {
  const expected = { version: 2, roots: ['/sys/fs/cgroup'] };
  expect(hierarchiesIn(`proc /proc proc rw 0 0\n${UNIFIED}\n`)).toEqual(expected);
  expect(hierarchiesIn(`${NET_CLS}\n${UNIFIED}\n`)).toEqual(expected);
});

test('version 1 rules otherwise, and that of version 2 is one more beside', () => {
  const memory = 'cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0';
  const beside = 'cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0';
  expect(hierarchiesIn(`${beside}\n${memory}\n${NET_CLS}\n`)).toEqual({
    version: 1,
    roots: ['/sys/fs/cgroup/memory', '/run/net_cls', '/sys/fs/cgroup/unified'],
  });
});

test('each cgroup of version 2 hands down what a kubelet wants and the machine has', async () => {
  const root = await scratch();
  const found: Hierarchies = { version: 2, roots: [root] };
  const handedDown = (path: string): Promise<string> =>
    readFile(join(root, path, 'cgroup.subtree_control'), 'utf8');
  const has = (path: string, names: string): Promise<void> =>
    writeFile(join(root, path, 'cgroup.controllers'), names);
  await has('', 'cpuset cpu io memory hugetlb pids rdma\n');
  await writeFile(join(root, 'cgroup.subtree_control'), 'cpu pids\n');
  await makeCgroup(NAME, found);
  expect(await handedDown('')).toBe('+cpuset +memory +hugetlb');
  await has(NAME, 'cpuset cpu memory hugetlb pids\n');
  await makeChildCgroup(`${NAME}/node-1`, found);
  await has(`${NAME}/node-1`, 'cpuset cpu memory pids\n');
  await makeChildCgroup(`${NAME}/node-1/pods`, found);
  expect(await handedDown(NAME)).toBe('+cpu +cpuset +memory +pids +hugetlb');
  expect(await handedDown(`${NAME}/node-1`)).toBe('+cpu +cpuset +memory +pids');
});
