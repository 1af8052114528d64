// Reads all that a cluster could leave on this machine; two readings can be compared.
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hierarchies } from '../../../knative/try/cluster/cgroups.ts';
import { debianPrograms } from '../../../knative/try/cluster/debian-programs.ts';
import { partsSettings } from '../../../knative/try/local/parts/settings.ts';
import { startTimeTicks } from '../../../knative/try/local/process/proc.ts';

/** Where container tools write by default, of what is not seen as a whole. */
const WATCHED = [
  '/dev/shm',
  '/run/containerd',
  '/run/netns',
  '/run/ballast',
  '/run/xtables.lock',
  '/run/flannel',
  '/var/log/containers',
  '/var/log/pods',
];

/**
 * Seen as a whole, with all that is below. Where people and their programs work beside a test, new
 * files say nothing; that a cluster cannot write there is what `writableFrom` looks at.
 */
const WHOLE = ['/boot', '/etc', '/media', '/opt', '/srv', '/var'];
/** Packages have a hundred thousand files; only directories that somebody could add to are read. */
const PACKAGES = '/usr';
const PACKAGES_DEPTH = '3';
/** Directories that a machine writes to by itself at any time. */
const BESIDE = ['/var/cache', '/var/log', '/var/tmp', '/var/lib/apt', '/var/lib/systemd'];

/** Settings of the whole machine that a kubelet or a proxy would like otherwise. */
const SETTINGS = [
  'kernel/hostname',
  'kernel/keys/root_maxbytes',
  'kernel/keys/root_maxkeys',
  'kernel/panic',
  'kernel/panic_on_oops',
  'net/ipv4/conf/all/route_localnet',
  'net/ipv4/ip_forward',
  'net/netfilter/nf_conntrack_max',
  'vm/overcommit_memory',
  'vm/panic_on_oom',
];

export interface MachineState {
  readonly mounts: readonly string[];
  readonly interfaces: readonly string[];
  readonly routes: readonly string[];
  readonly rules: readonly string[];
  readonly cgroups: readonly string[];
  readonly files: readonly string[];
  readonly settings: readonly string[];
}

/**
 * `runRoot` is where the clusters have their directories whose traces are looked for, and
 * `ownInterface` the name of their wire. Others may come and go beside them.
 */
export async function machineState(runRoot: string, ownInterface: string): Promise<MachineState> {
  const isOurs = (text: string): boolean =>
    (/ballast-\d+-\d+/.exec(text)?.[0] ?? ownInterface) === ownInterface;
  const { roots } = await hierarchies();
  const cgroups = await Promise.all(roots.map((root) => namesIn(root)));
  const names = ['/', homedir(), runRoot, ...WATCHED];
  const files = await Promise.all([...names.map(namesIn), treesOfMachine()]);
  return {
    mounts: lines(await readFile('/proc/self/mounts', 'utf8')),
    interfaces: (await namesIn('/sys/class/net')).filter(isOurs),
    routes: lines(await output('ip', 'route', 'show', 'table', 'all')).filter(isOurs),
    rules: await rules(),
    cgroups: await withoutLiving(cgroups.flat()),
    files: files.flat().toSorted(),
    settings: await Promise.all(SETTINGS.map(setting)),
  };
}

/** A cgroup of a cluster whose starter lives is no leftover. */
async function withoutLiving(cgroups: readonly string[]): Promise<readonly string[]> {
  const lives = await Promise.all(
    cgroups.map(async (path) => {
      const pid = /ballast-cluster-(\d+)-/.exec(path)?.[1];
      return pid === undefined ? undefined : startTimeTicks(Number(pid));
    }),
  );
  return cgroups.filter((_, index) => lives[index] === undefined);
}

async function treesOfMachine(): Promise<readonly string[]> {
  const beside = BESIDE.flatMap((path) => ['-path', path, '-o']).slice(0, -1);
  const [whole, packages] = await Promise.all([
    output('find', ...WHOLE, '(', ...beside, ')', '-prune', '-o', '-print'),
    output('find', PACKAGES, '-maxdepth', PACKAGES_DEPTH),
  ]);
  return [...lines(whole), ...lines(packages)];
}

/** Interfaces of the kernel, not files of the machine. */
const KERNELS = ['proc', 'sysfs', 'cgroup', 'cgroup2', 'mqueue', 'devtmpfs', 'devpts'];

/**
 * Mounts through which this process could write to a file of the machine; `own` is in the path of
 * what belongs to its cluster.
 */
export async function writableFrom(pid: number, own: string): Promise<readonly string[]> {
  const machine = new Set((await mountsOf('self')).map(({ device }) => device));
  const found = (await mountsOf(String(pid))).filter(
    ({ device, root, path, isWritable, type }) =>
      isWritable &&
      machine.has(device) &&
      !KERNELS.includes(type) &&
      !root.includes(own) &&
      !path.startsWith('/sys/'),
  );
  return found.map(({ path }) => path);
}

async function mountsOf(pid: string) {
  const rows = lines(await readFile(`/proc/${pid}/mountinfo`, 'utf8'));
  return rows.map((row) => {
    const [before = '', after = ''] = row.split(' - ');
    const [, , device = '', root = '', path = '', options = ''] = before.split(' ');
    const isWritable = options.split(',').includes('rw');
    return { device, root, path, isWritable, type: after.split(' ')[0] ?? '' };
  });
}

/** Processes, of whoever, that are in any of these namespaces. */
export async function processesIn(namespaces: readonly string[]): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => (await namespacesOf(pid)).some((one) => namespaces.includes(one))),
  );
  return pids.filter((_, index) => found[index]);
}

export async function namespacesOf(pid: number): Promise<readonly string[]> {
  const links = ['mnt', 'net', 'pid', 'uts', 'ipc'].map((kind) =>
    readlink(`/proc/${pid}/ns/${kind}`).catch(() => ''),
  );
  return (await Promise.all(links)).filter((link) => link !== '');
}

/** Without the counters, which move by themselves. */
async function rules(): Promise<readonly string[]> {
  const { iptablesDir } = await debianPrograms(partsSettings(), () => undefined);
  const text = await output(join(iptablesDir, 'iptables-save'));
  return lines(text).filter((line) => !/^[#:]/.test(line));
}

const output = async (command: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(command, [...args], { maxBuffer: OUTPUT_BYTES_MAX })).stdout;

/** All names below /var. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

const lines = (text: string): readonly string[] => text.trimEnd().split('\n').toSorted();

async function namesIn(path: string): Promise<readonly string[]> {
  const names = await readdir(path).catch(() => []);
  return names.map((name) => join(path, name)).toSorted();
}

const setting = async (name: string): Promise<string> =>
  `${name}=${await readFile(join('/proc/sys', name), 'utf8').catch(() => 'none')}`;
