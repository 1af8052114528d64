// The cluster's own directory in every cgroup hierarchy of this machine: made before its first
// process, emptied by force and removed after its last. Works with version 1, version 2 and both.
import { mkdir, readFile, readdir, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Hierarchies {
  readonly version: 1 | 2;
  /** Mount points. With version 1 one per controller, and that of version 2 beside them. */
  readonly roots: readonly string[];
}

/** Controllers with which a kubelet counts and limits. */
const CONTROLLERS = ['cpu', 'cpuset', 'memory', 'pids'];

/** In version 2 a kubelet refuses a directory without it on a machine that has it. */
const HUGE_PAGES = 'hugetlb';

/** Here kubelet and runc look, and by what is mounted at it they choose the version. */
const MOUNTED_AT = '/sys/fs/cgroup';

/** Killed processes are gone in milliseconds, unless the machine has no time for them. */
const EMPTY_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 20;

export async function hierarchies(): Promise<Hierarchies> {
  const { version, roots } = hierarchiesIn(await readFile('/proc/mounts', 'utf8'));
  return { version, roots: await eachOnce(roots) };
}

/** `mounts` is /proc/mounts. Where version 2 rules, what is mounted of version 1 is not for us. */
export function hierarchiesIn(mounts: string): Hierarchies {
  const rows = mounts.split('\n').map((line) => line.split(' '));
  const roots = (wanted: string): string[] =>
    rows.flatMap(([, path, type]) => (type === wanted && path !== undefined ? [path] : []));
  const second = roots('cgroup2');
  if (second.includes(MOUNTED_AT)) return { version: 2, roots: [MOUNTED_AT] };
  return { version: 1, roots: [...roots('cgroup'), ...second] };
}

/** Others may have mounted a hierarchy a second time; a directory is made in it once. */
async function eachOnce(roots: readonly string[]): Promise<readonly string[]> {
  const byDevice = new Map<number, string>();
  for (const root of roots) {
    const { dev } = await stat(root);
    if (!byDevice.has(dev)) byDevice.set(dev, root);
  }
  return [...byDevice.values()];
}

/** Why a cluster cannot have cgroups here, or undefined. */
export async function whyNoCgroups({ version, roots }: Hierarchies): Promise<string | undefined> {
  const controllers =
    version === 1
      ? await mountedControllers(roots)
      : await namesIn(join(roots[0] ?? '', 'cgroup.controllers'));
  const missing = CONTROLLERS.filter((name) => !controllers.includes(name));
  if (missing.length === 0) return undefined;
  return `The cgroup controllers ${missing.join(', ')} are not mounted below ${MOUNTED_AT}.`;
}

async function mountedControllers(roots: readonly string[]): Promise<readonly string[]> {
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n');
  return mounts
    .map((line) => line.split(' '))
    .filter(([, path = '', type]) => type === 'cgroup' && roots.includes(path))
    .flatMap(([, , , options = '']) => options.split(','));
}

/** Fails when it is there already: then it is somebody else's. */
export async function makeCgroup(name: string, { version, roots }: Hierarchies): Promise<void> {
  for (const root of roots) {
    const dir = join(root, name);
    await mkdir(dir);
    if (version === 1) await inheritCpuset(root, dir);
    else await handDownControllers(root);
  }
}

/** Makes one below the cluster's own directory; the one above it has been made before. */
export async function makeChildCgroup(path: string, found: Hierarchies): Promise<void> {
  for (const root of found.roots) {
    const dir = join(root, path);
    await mkdir(dir, { recursive: true });
    if (found.version === 1) await inheritCpuset(dirname(dir), dir);
    else await handDownControllers(dirname(dir));
  }
}

/** In version 1 a new cpuset has neither processors nor memory, and takes no process. */
async function inheritCpuset(parent: string, dir: string): Promise<void> {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const value = await readOrEmpty(join(parent, file));
    if (value !== undefined) await writeFile(join(dir, file), value);
  }
}

/** In version 2 a cgroup has the controllers that the one above it hands down. */
async function handDownControllers(dir: string): Promise<void> {
  const file = join(dir, 'cgroup.subtree_control');
  const [there, enabled] = await Promise.all([
    namesIn(join(dir, 'cgroup.controllers')),
    namesIn(file),
  ]);
  const wanted = [...CONTROLLERS, HUGE_PAGES].filter((name) => there.includes(name));
  const missing = wanted.filter((name) => !enabled.includes(name));
  if (missing.length > 0) await writeFile(file, missing.map((name) => `+${name}`).join(' '));
}

const namesIn = async (path: string): Promise<readonly string[]> =>
  ((await readOrEmpty(path)) ?? '').trim().split(' ');

/** A shell command's beginning that puts the shell, and what it executes, below `path`. */
export function enterCgroup(path: string, { roots }: Hierarchies): string {
  return roots.map((root) => `echo $$ > '${join(root, path, 'cgroup.procs')}'`).join(' && ');
}

/** Processor time of all that has ever run in it or below, also of what has ended. */
export async function usedSeconds(name: string, { version, roots }: Hierarchies): Promise<number> {
  const file = version === 1 ? 'cpuacct.usage' : 'cpu.stat';
  const found = await Promise.all(roots.map((root) => readOrEmpty(join(root, name, file))));
  const text = found.find((one) => one !== undefined);
  if (text === undefined) throw new Error(`no hierarchy counts the time of ${name}`);
  const [count = ''] = /\d+/.exec(text) ?? [];
  return Number(count) / (version === 1 ? 1e9 : 1e6);
}

/** Kills every process below `path`, whatever it does, until there is none. */
export async function killCgroup(path: string, { roots }: Hierarchies): Promise<void> {
  const endsAtMs = Date.now() + EMPTY_WITHIN_MS;
  for (;;) {
    const pids = (await Promise.all(roots.map((root) => processesBelow(join(root, path))))).flat();
    if (pids.length === 0) return;
    for (const pid of new Set(pids)) endIfThere(pid);
    if (Date.now() > endsAtMs) {
      const list = [...new Set(pids)].join(', ');
      throw new Error(`${path}: the processes ${list} were killed and do not end; look at dmesg.`);
    }
    await sleep(LOOK_EVERY_MS);
  }
}

export async function removeCgroup(name: string, { roots }: Hierarchies): Promise<void> {
  for (const root of roots) await removeBelow(join(root, name), Date.now() + EMPTY_WITHIN_MS);
}

async function removeBelow(dir: string, endsAtMs: number): Promise<void> {
  for (const child of await children(dir)) await removeBelow(child, endsAtMs);
  for (;;) {
    const failure = await rmdir(dir).catch((error: NodeJS.ErrnoException) => error);
    if (failure === undefined || failure.code === 'ENOENT') return;
    // The last process is gone for everybody else a moment before its cgroup knows.
    if (failure.code !== 'EBUSY' || Date.now() > endsAtMs) throw failure;
    await sleep(LOOK_EVERY_MS);
  }
}

async function processesBelow(dir: string): Promise<readonly number[]> {
  const own = ((await readOrEmpty(join(dir, 'cgroup.procs'))) ?? '').split('\n').filter(Boolean);
  const below = await Promise.all((await children(dir)).map(processesBelow));
  return [...own.map(Number), ...below.flat()];
}

async function children(dir: string): Promise<readonly string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(dir, entry.name));
}

function endIfThere(pid: number): void {
  // 0 is what the kernel writes for a process of a namespace that this one does not see.
  if (pid === 0) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Undefined when there is no such file: not every hierarchy has every file. */
async function readOrEmpty(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
