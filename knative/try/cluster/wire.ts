// The one wire between this machine and a cluster: a pair of interfaces, one end here, one in the
// cluster's network namespace, and the one route that leads there. The kernel takes both away with
// the namespace.
import type { Addresses } from './addresses.ts';
import { run } from './commands.ts';

/** The cluster's end. */
export const INSIDE_INTERFACE = 'eth0';

/** `pid` is a process in the cluster's network namespace. */
export async function layWire(addresses: Addresses, pid: number, dir: string): Promise<void> {
  const { interfaceName: name, host, controlPlane, subnet } = addresses;
  const peer = ['peer', 'name', INSIDE_INTERFACE, 'netns', String(pid)];
  await run('ip', 'link', 'add', name, 'type', 'veth', ...peer);
  await run('ip', 'link', 'set', name, 'alias', dir, 'up');
  await run('ip', 'address', 'add', `${host}/30`, 'dev', name);
  await run('ip', 'route', 'add', subnet, 'via', controlPlane, 'dev', name);
}

/** By the mark that it got when it was made. */
export async function isOurInterface(name: string, dir: string): Promise<boolean> {
  return (await aboutInterface(name)).split(/\s/).includes(dir);
}

/** Empty when there is none. Asked of the kernel: /sys may be of another network namespace. */
export async function aboutInterface(name: string): Promise<string> {
  return run('ip', '-oneline', 'link', 'show', 'dev', name).catch(() => '');
}

/**
 * At once: left to the kernel, the wire outlives its namespace by as long as that takes to be taken
 * apart, which with thirty pods in it is a minute on a busy machine.
 */
export async function cutWire(name: string, dir: string): Promise<void> {
  if (!(await isOurInterface(name, dir))) return;
  await run('ip', 'link', 'del', name).catch(async (error: unknown) => {
    // The kernel was quicker.
    if (await isOurInterface(name, dir)) throw error;
  });
}
