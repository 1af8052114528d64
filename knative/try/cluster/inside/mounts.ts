// The file system as the cluster alone sees it: its own /run, /sys and logs, the machine's files to
// read and not to write, and kernel settings that read as a kubelet wants them, so that it does not
// set them for the whole machine.
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../commands.ts';
import { INSIDE_DIR } from './config.ts';
import { isolate, ownMemory } from './isolation.ts';

/** These are one for all namespaces, so they are shown and not set. */
const KUBELET_TUNABLES: Readonly<Record<string, string>> = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
};

const RESOLV_CONF = '/etc/resolv.conf';

export async function setUpMounts(hostDir: string): Promise<void> {
  await ownMemory('/run');
  const dir = INSIDE_DIR;
  await mkdir(dir);
  await run('mount', '--bind', hostDir, dir);
  await ownSys(dir);
  const log = join(dir, 'log');
  await mkdir(log);
  await run('mount', '--bind', log, '/var/log');
  await hideNameServers(dir);
  for (const [name, value] of Object.entries(KUBELET_TUNABLES)) await show(dir, name, value);
  await isolate();
  // Pods may ask to see what is mounted later: that takes mounts that tell each other. Last, or
  // what is unmounted above would go in both places.
  await run('mount', '--make-rshared', '/');
}

/**
 * No name server of the machine can be reached from here, and asking takes a minute to find that
 * out: so long nobody was told that an image is missing.
 */
async function hideNameServers(dir: string): Promise<void> {
  const path = join(dir, 'resolv.conf');
  await writeFile(path, '');
  // A link into the machine's /run leads nowhere already.
  const isThere = await access(RESOLV_CONF).then(
    () => true,
    () => false,
  );
  if (isThere) await run('mount', '--bind', path, RESOLV_CONF);
}

/** Shows the interfaces of our network namespace, and the cgroups as they were. */
async function ownSys(dir: string): Promise<void> {
  const aside = join(dir, 'cgroup');
  await mkdir(aside);
  await run('mount', '--rbind', '/sys/fs/cgroup', aside);
  await run('mount', '-t', 'sysfs', 'sysfs', '/sys');
  await run('mount', '--rbind', aside, '/sys/fs/cgroup');
  await run('umount', '-R', '-l', aside);
}

async function show(dir: string, name: string, value: string): Promise<void> {
  const path = join(dir, name.replaceAll('/', '.'));
  await writeFile(path, `${value}\n`);
  await run('mount', '--bind', path, join('/proc/sys', name));
}
