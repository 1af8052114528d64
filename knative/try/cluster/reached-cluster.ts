// A cluster that runs on this machine, whoever holds it up: where it is reached, and what can be
// asked of it over the socket in its directory.
import { type Addresses, nodeAddresses } from './addresses.ts';
import { controlSocket, type ClusterRecord, kubeconfigPath } from './cluster-directory.ts';
import { ask } from './control.ts';

export interface ClusterNode {
  readonly name: string;
  readonly address: string;
  /** Ends kubelet and containerd; pods go on, unseen. */
  stop(): Promise<void>;
  /** Everything of it at once, pods too: a machine whose power fails. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

export class ReachedCluster {
  readonly dir: string;
  readonly addresses: Addresses;
  readonly nodes: readonly ClusterNode[];

  constructor({ dir, addresses, nodes }: ClusterRecord & { readonly dir: string }) {
    this.dir = dir;
    this.addresses = addresses;
    this.nodes = Array.from({ length: nodes }, (_, index) => {
      const { name, address } = nodeAddresses(addresses, index + 1);
      const tell = (path: string) => (): Promise<void> => this.#tell(path, { node: name });
      return { name, address, stop: tell('/stop'), kill: tell('/kill'), start: tell('/start') };
    });
  }

  /** Cluster admin, complete in itself: the file can be copied. */
  get kubeconfigPath(): string {
    return kubeconfigPath(this.dir);
  }

  node(name: string): ClusterNode {
    const found = this.nodes.find((node) => node.name === name);
    if (found !== undefined) return found;
    const names = this.nodes.map((node) => node.name).join(', ');
    throw new Error(`no node is named ${name}; there are: ${names}`);
  }

  /** Makes an image of an OCI archive known to every node. */
  async importImage(archive: string): Promise<void> {
    await this.#tell('/import', { archive });
  }

  async #tell(path: string, query: Readonly<Record<string, string>>): Promise<void> {
    await ask(controlSocket(this.dir), path, query);
  }
}
