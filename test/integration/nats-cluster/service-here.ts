// A Service of Kubernetes as clients see it: one address, behind which each new connection is led
// to one of the servers that are there by then. Those that are open stay where they are.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class ServiceHere {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #servers: readonly string[];
  #turn = 0;

  private constructor(servers: readonly string[]) {
    this.#servers = servers;
    this.#server = createServer((client) => this.#lead(client));
  }

  /** `servers` as `10.0.0.1:4222`. */
  static async start(servers: readonly string[]): Promise<ServiceHere> {
    const service = new ServiceHere(servers);
    service.#server.listen(0, '127.0.0.1');
    await once(service.#server, 'listening');
    return service;
  }

  get address(): string {
    // A TCP server has an address and a port.
    const { address, port } = this.#server.address() as AddressInfo;
    return `${address}:${port}`;
  }

  /** Another selector. */
  leadTo(servers: readonly string[]): void {
    this.#servers = servers;
  }

  async stop(): Promise<void> {
    for (const one of this.#open) one.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #lead(client: Socket): void {
    this.#turn += 1;
    const at = this.#servers[this.#turn % this.#servers.length] ?? '';
    const [host = '', port] = at.split(':');
    const server = connect(Number(port), host);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#open.add(one);
      one.setNoDelay();
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#open.delete(one);
        other.destroy();
      });
    }
  }
}
