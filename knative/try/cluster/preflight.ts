// Says why a cluster cannot be here, before anything has been changed.
import { access, constants, readFile, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { type Addresses, isTakenBy } from './addresses.ts';
import { hierarchies, whyNoCgroups } from './cgroups.ts';
import { findClusters } from './cluster-directory.ts';
import { run } from './commands.ts';
import { aboutInterface } from './wire.ts';

/** The message says what is missing and what to do. */
export class CannotRunHere extends Error {
  override readonly name = 'CannotRunHere';
}

const PROGRAMS = ['unshare', 'setpriv', 'mount', 'umount', 'ip'];
const NAMESPACES = ['mnt', 'net', 'pid', 'uts', 'ipc'];
const SYSTEM_DIRS = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'];
/** One node with a few images; less than this is full before the first pod. */
const FREE_BYTES_MIN = 2 * 1024 ** 3;

/** The kernel takes 107 characters, and the cluster's directory and the socket's name follow. */
const TMPDIR_LENGTH_MAX = 60;

/** Programs that the cluster uses are looked for here. */
export const systemPath = SYSTEM_DIRS.join(':');

/** Undefined when a cluster can be here, with whatever addresses. */
export async function whyNotHere(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `A cluster needs Linux; this is ${process.platform}.`;
  if (getuid?.() !== 0) return 'A cluster needs root: it makes namespaces, mounts and cgroups.';
  const programs = await missing(PROGRAMS, findProgram);
  if (programs.length > 0) {
    return `These programs are missing: ${programs.join(', ')}. Install util-linux and iproute2.`;
  }
  const namespaces = await missing(NAMESPACES, (name) => access(`/proc/self/ns/${name}`));
  if (namespaces.length > 0) return `The kernel has no ${namespaces.join(', ')} namespaces.`;
  const filesystems = await readFile('/proc/filesystems', 'utf8');
  if (!/\toverlay$/m.test(filesystems)) {
    return 'The kernel has no overlay file system: `modprobe overlay`.';
  }
  if (tmpdir().startsWith('/run')) return `TMPDIR is ${tmpdir()}: choose one outside of /run.`;
  if (tmpdir().length > TMPDIR_LENGTH_MAX) {
    return `TMPDIR is too long for the path of a socket in it (${tmpdir()}): choose a shorter one.`;
  }
  const { bavail, bsize } = await statfs(tmpdir());
  if (bavail * bsize < FREE_BYTES_MIN) return `${tmpdir()} has less than 2 GB free: set TMPDIR.`;
  return (await whyNoCgroups(await hierarchies())) ?? (await whyNoNamespaces());
}

/** A sandbox may have all of it and forbid its use. */
async function whyNoNamespaces(): Promise<string | undefined> {
  const probe = ['--mount', '--net', '--pid', '--uts', '--ipc', '--fork', '--mount-proc'];
  const script = 'mount -t tmpfs tmpfs /run && ip link set lo up';
  return run('unshare', ...probe, 'sh', '-c', script).then(
    () => undefined,
    (error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      return `Namespaces cannot be made here. ${why}`;
    },
  );
}

/** Why these addresses cannot be had, or undefined. */
export async function whyNotAt({ subnet, interfaceName }: Addresses): Promise<string | undefined> {
  const running = (await findClusters()).find(({ addresses }) => addresses.subnet === subnet);
  if (running !== undefined) {
    const { starterPid } = running;
    return (
      `A cluster runs at ${subnet} already, started by pid ${starterPid}: end it with ` +
      '`npm run cluster -- down`, or choose another network with --subnet.'
    );
  }
  if ((await aboutInterface(interfaceName)) !== '') {
    return `There is an interface named ${interfaceName} already, and it is not ours.`;
  }
  const table = await run('ip', '-4', 'route', 'show', 'table', 'all');
  const inUse = table.split('\n').find((route) => isTakenBy(route, subnet));
  if (inUse === undefined) return undefined;
  return `${subnet} is taken on this machine (${inUse.trim()}): choose another with --subnet.`;
}

async function missing(
  names: readonly string[],
  lookUp: (name: string) => Promise<unknown>,
): Promise<readonly string[]> {
  const found = await Promise.all(
    names.map((name) =>
      lookUp(name).then(
        () => true,
        () => false,
      ),
    ),
  );
  return names.filter((_, index) => !found[index]);
}

async function findProgram(name: string): Promise<void> {
  await Promise.any(SYSTEM_DIRS.map((dir) => access(join(dir, name), constants.X_OK)));
}
