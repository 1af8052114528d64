// A TCP proxy between one client and one server part, so that a test can cut exactly this
// connection. A cut link is silent, as a lost network is: connections stay open, new ones are
// accepted by nobody's word, and no byte passes.
import { type Server, type Socket, connect, createServer } from 'node:net';

export interface Link {
  /** The port that stands for the server. */
  readonly port: number;
  cut(): void;
  heal(): void;
  /** Ends every connection with a reset and leaves the link whole. */
  reset(): void;
  close(): Promise<void>;
}

export async function openLink(targetPort: number): Promise<Link> {
  const link = new TcpLink(targetPort);
  await link.listen();
  return link;
}

class TcpLink implements Link {
  readonly #targetPort: number;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #isCut = false;

  constructor(targetPort: number) {
    this.#targetPort = targetPort;
    // The client's FIN must wait while the link is cut, so half-open sockets are ours to end.
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
      const pair = new Pair(client, this.#targetPort);
      this.#pairs.add(pair);
      pair.onClose(() => this.#pairs.delete(pair));
      if (!this.#isCut) pair.join();
    });
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the link is closed');
    return address.port;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', resolve);
    });
  }

  cut(): void {
    this.#isCut = true;
    for (const pair of this.#pairs) pair.part();
  }

  heal(): void {
    // A pair that is joined twice would pass every byte twice.
    if (!this.#isCut) return;
    this.#isCut = false;
    for (const pair of this.#pairs) pair.join();
  }

  reset(): void {
    for (const pair of this.#pairs) pair.destroy();
  }

  async close(): Promise<void> {
    this.reset();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

/** One client connection and the server connection that answers it. */
class Pair {
  readonly #client: Socket;
  readonly #targetPort: number;
  #server: Socket | undefined;

  constructor(client: Socket, targetPort: number) {
    this.#client = client;
    this.#targetPort = targetPort;
    // A reset is how either side leaves; the pair then ends as a whole.
    client.on('error', () => this.destroy());
  }

  onClose(listener: () => void): void {
    this.#client.once('close', () => {
      this.#server?.destroy();
      listener();
    });
  }

  join(): void {
    this.#server ??= this.#dial();
    this.#client.pipe(this.#server);
    this.#server.pipe(this.#client);
  }

  part(): void {
    this.#client.unpipe().pause();
    this.#server?.unpipe().pause();
  }

  destroy(): void {
    this.#client.resetAndDestroy();
    this.#server?.destroy();
  }

  #dial(): Socket {
    const server = connect({ port: this.#targetPort, host: '127.0.0.1', allowHalfOpen: true });
    server.on('error', () => this.destroy());
    return server;
  }
}
