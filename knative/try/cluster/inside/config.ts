// The starter's configuration for the supervisor inside the namespaces, in one file.
import type { PartName } from '../../local/parts/part-entry.ts';
import type { Addresses, NodeAddresses } from '../addresses.ts';
import type { Hierarchies } from '../cgroups.ts';

/**
 * The cluster's directory as it is seen from inside: the path of a socket has to be short, and that
 * of a temporary directory may be anything.
 */
export const INSIDE_DIR = '/run/cluster';

export interface InsideConfig {
  /** The cluster's directory as it is seen from outside. */
  readonly hostDir: string;
  readonly dir: typeof INSIDE_DIR;
  readonly addresses: Addresses;
  readonly nodes: readonly NodeAddresses[];
  readonly parts: Readonly<Record<PartName, string>>;
  /** Not among the parts: it is taken from the machine or from Debian. */
  readonly runc: string;
  /** Where programs are looked for inside: iptables, mount and their like. */
  readonly path: string;
  readonly cgroup: string;
  readonly hierarchies: Hierarchies;
  /** Fields in which the configuration of the kubelets differs from kubelet.ts. */
  readonly kubelet: Readonly<Record<string, unknown>>;
  /** Archives that every node imports at its start. */
  readonly images: readonly string[];
}

/** Messages of the supervisor, one JSON text a line, on its standard output. */
export type InsideMessage =
  | { readonly kind: 'part'; readonly name: string; readonly state: string; readonly note?: string }
  | { readonly kind: 'ready'; readonly readyName: string }
  /** Trouble that is no part's. */
  | { readonly kind: 'trouble'; readonly text: string }
  | { readonly kind: 'up' };
