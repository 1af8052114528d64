// Keeps the cluster from writing to the machine's file system. Some programs of a node write to
// paths that nobody can choose: libcni to /var/lib/cni, the kubelet's device plugins to
// /var/lib/kubelet. On a machine that is itself a node these are somebody else's.
import { access, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../commands.ts';

/** Writes there go into memory; reads show the machine's files. */
const OVERLAID = '/var/lib';
/** Nodes, also of this machine, keep their state there: it is not even read. */
const EMPTY = ['/var/lib/cni', '/var/lib/containerd', '/var/lib/kubelet', '/var/lib/kube-proxy'];
/** Below these nothing is a file of the machine, or the cluster has its own. */
const OWN = ['/proc', '/sys', '/dev', '/run', '/var/log', OVERLAID];
/** Memory below /dev that all programs of the machine share. */
const SHARED_MEMORY = '/dev/shm';
/** On the cluster's own /run. */
const UPPER = '/run/ballast-written';

const isBelow = (path: string, dir: string): boolean => `${path}/`.startsWith(`${dir}/`);

/** Last of all mounts: from here on whatever is mounted elsewhere could be written to. */
export async function isolate(): Promise<void> {
  const mounts = mountsIn(await readFile('/proc/self/mountinfo', 'utf8'));
  await overlay(OVERLAID, mounts);
  for (const dir of EMPTY) {
    await mkdir(dir, { recursive: true });
    await run('mount', '-t', 'tmpfs', 'tmpfs', dir);
  }
  if (await isThere(SHARED_MEMORY)) {
    await ownMemory(SHARED_MEMORY, '-o', 'nosuid,nodev,mode=1777');
  }
  for (const { path, options } of mounts) {
    if (OWN.some((dir) => isBelow(path, dir)) || !(await isThere(path))) continue;
    await run('mount', '-o', `remount,bind,${readOnly(options)}`, path);
  }
}

/** All that the machine has mounted there is unmounted in here, and not only covered. */
export async function ownMemory(path: string, ...options: readonly string[]): Promise<void> {
  const mounts = allMountsIn(await readFile('/proc/self/mountinfo', 'utf8'));
  for (const mount of mounts) if (mount.path === path) await run('umount', '-R', '-l', path);
  await run('mount', '-t', 'tmpfs', ...options, 'tmpfs', path);
}

/** File systems that the machine has mounted below it would be missing from the overlay. */
async function overlay(dir: string, mounts: readonly Mount[]): Promise<void> {
  const [aside, upper, work] = [join(UPPER, 'machine'), join(UPPER, 'upper'), join(UPPER, 'work')];
  for (const path of [aside, upper, work]) await mkdir(path, { recursive: true });
  await run('mount', '--rbind', dir, aside);
  const options = `lowerdir=${aside},upperdir=${upper},workdir=${work}`;
  await run('mount', '-t', 'overlay', 'overlay', '-o', options, dir);
  for (const { path, options: old } of mounts) {
    if (path === dir || !isBelow(path, dir)) continue;
    await run('mount', '--bind', join(aside, path.slice(dir.length)), path);
    await run('mount', '-o', `remount,bind,${readOnly(old)}`, path);
  }
  await run('umount', '-R', '-l', aside);
}

export interface Mount {
  readonly path: string;
  /** Options of the mount, and not of the file system: `rw,nosuid,relatime`. */
  readonly options: string;
}

/** Two mounts at one path give the path once: only the upper one shows. */
export const mountsIn = (mountinfo: string): readonly Mount[] => [
  ...new Map(allMountsIn(mountinfo).map((mount) => [mount.path, mount])).values(),
];

function allMountsIn(mountinfo: string): readonly Mount[] {
  const rows = mountinfo.split('\n').filter(Boolean);
  return rows.map((row) => {
    const [, , , , path = '', options = ''] = row.split(' ');
    return { path: unescaped(path), options };
  });
}

/** The kernel writes blanks, tabs, line ends and backslashes as `\040` and so on. */
const unescaped = (path: string): string =>
  path.replaceAll(/\\(\d{3})/g, (_, octal: string) =>
    String.fromCodePoint(Number.parseInt(octal, 8)),
  );

const readOnly = (options: string): string =>
  ['ro', ...options.split(',').filter((option) => option !== 'rw' && option !== 'ro')].join(',');

/** A mount below another one is listed and cannot be reached. */
const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
