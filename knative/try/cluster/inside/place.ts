// Where one node has its things: directories, sockets, cgroups. Several nodes live beside each
// other, so none of these may be shared.
import { dirname, join } from 'node:path';
import { type NodeAddresses } from '../addresses.ts';
import { enterCgroup, type Hierarchies } from '../cgroups.ts';
import type { InsideConfig } from './config.ts';

/**
 * Daemons written in Go collect their garbage later than by themselves: their heaps are small, and
 * they take less of the processors then, for some more memory.
 */
export const GO_GC = { GOGC: '400' } as const;

export interface NodePlace {
  readonly name: string;
  readonly addresses: NodeAddresses;
  /** The disk of a node: images, containers, pods, logs, volumes. */
  readonly dir: string;
  /** State that a reboot would remove. */
  readonly stateDir: string;
  /** For what runc and others write for a moment: /tmp is the machine's, and read-only here. */
  readonly tmpDir: string;
  /** The socket of containerd; short, since the path of a socket may not be long. */
  readonly socket: string;
  readonly networkDir: string;
  readonly networkPlugins: string;
  /** Below every hierarchy's root; its own programs are in `system`, its pods in `pods`. */
  readonly cgroup: string;
}

export function placeOf(config: InsideConfig, addresses: NodeAddresses): NodePlace {
  const { name } = addresses;
  const stateDir = join('/run/ballast', name);
  const dir = join(config.dir, 'nodes', name);
  return {
    name,
    addresses,
    dir,
    stateDir,
    tmpDir: join(stateDir, 'tmp'),
    socket: join(stateDir, 'containerd.sock'),
    networkDir: join(dir, 'network'),
    networkPlugins: dirname(config.parts.bridge),
    cgroup: `${config.cgroup}/${name}`,
  };
}

/**
 * Starts a part in a cgroup: it and all its children are counted, and can be found, below `path`.
 */
export function inCgroup(
  path: string,
  hierarchies: Hierarchies,
  command: readonly string[],
): { readonly command: string; readonly args: readonly string[] } {
  const script = `${enterCgroup(path, hierarchies)} && exec "$@"`;
  return { command: '/bin/sh', args: ['-c', script, 'sh', ...command] };
}
