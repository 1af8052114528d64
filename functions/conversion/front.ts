// TLS before the plain port of the function: connections end here and are handed on to it, so that
// limits, drain and metrics are its own. The certificate may change at any time; connections that
// are there keep theirs.
import { connect, type Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { CertificateFiles } from '../../shared/stateful/certificates/secret-data.ts';

/** A handshake takes milliseconds; who has none by then never meant to. */
const HANDSHAKE_MS = 10_000;
/** Each API server opens some; the rest is somebody else. */
const CONNECTIONS_MAX = 512;
/** Hosts by which a server listens on all addresses, loopback among them. */
const ALL: ReadonlySet<string | undefined> = new Set([undefined, '0.0.0.0', '::']);

export class TlsFront {
  readonly #server: Server;
  readonly #host: string | undefined;
  /** Those in their handshake too, which hold up the end otherwise. */
  readonly #sockets = new Set<Socket>();

  /** `port` is the plain one; both listen at this host, or on all addresses without one. */
  constructor(port: number, host?: string) {
    this.#host = host;
    const options = { handshakeTimeout: HANDSHAKE_MS, allowHalfOpen: true, noDelay: true };
    this.#server = createServer(options, (socket) => this.#handOn(socket, port));
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** New connections are shown this one. */
  show({ certificate, key }: Pick<CertificateFiles, 'certificate' | 'key'>): void {
    this.#server.setSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2' });
  }

  /** Resolves with the port, a free one for 0. */
  listen(port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, this.#host, () => {
        this.#server.off('error', reject);
        const address = this.#server.address();
        if (typeof address === 'object' && address !== null) resolve(address.port);
        else reject(new Error(`TLS does not listen on a port but on ${address}.`));
      });
    });
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #handOn(outer: TLSSocket, port: number): void {
    const host = ALL.has(this.#host) ? '127.0.0.1' : this.#host;
    const inner = connect({ port, host, allowHalfOpen: true, noDelay: true });
    const end = (one: Socket): void => {
      one.destroy();
    };
    outer.once('close', () => end(inner));
    inner.once('close', () => end(outer));
    outer.on('error', () => end(inner));
    inner.on('error', () => end(outer));
    outer.pipe(inner);
    inner.pipe(outer);
  }
}
