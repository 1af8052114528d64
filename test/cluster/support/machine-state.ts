// What a cluster could leave on this machine, read in one look: two looks can be compared.
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hierarchies } from '../../../knative/cluster/cgroups.ts';
import { debianPrograms } from '../../../knative/cluster/debian-programs.ts';
import { partsSettings } from '../../../knative/local/parts/settings.ts';
import { startTimeTicks } from '../../../knative/local/process/proc.ts';

/** Where container tools write by default, and where ours must not. */
const WATCHED = [
  '/etc/cni',
  '/opt/cni',
  '/opt/containerd',
  '/run/containerd',
  '/run/netns',
  '/run/ballast',
  '/run/xtables.lock',
  '/run/flannel',
  '/usr/libexec/kubernetes',
  '/var/lib/cni',
  '/var/lib/containerd',
  '/var/lib/kubelet',
  '/var/log/containers',
  '/var/log/pods',
];

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
  const files = await Promise.all([runRoot, ...WATCHED].map((path) => namesIn(path)));
  return {
    mounts: lines(await readFile('/proc/self/mounts', 'utf8')),
    interfaces: (await namesIn('/sys/class/net')).filter(isOurs),
    routes: lines(await output('ip', 'route', 'show', 'table', 'all')).filter(isOurs),
    rules: await rules(),
    cgroups: await withoutLiving(cgroups.flat()),
    files: files.flat(),
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
  (await promisify(execFile)(command, [...args])).stdout;

const lines = (text: string): readonly string[] => text.trimEnd().split('\n').toSorted();

async function namesIn(path: string): Promise<readonly string[]> {
  const names = await readdir(path).catch(() => []);
  return names.map((name) => join(path, name)).toSorted();
}

const setting = async (name: string): Promise<string> =>
  `${name}=${await readFile(join('/proc/sys', name), 'utf8').catch(() => 'none')}`;
