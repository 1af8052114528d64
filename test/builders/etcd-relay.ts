// Stands before a real etcd for whoever reads it through the gateway, so that a test can act
// between the last write of the API server and the next read of etcd.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export class EtcdRelay {
  /** Done before each question for the newest revision, which begins every reading. */
  beforeRead: () => Promise<void> = async () => undefined;
  readonly #server: Server;

  constructor(etcdUrl: string) {
    this.#server = createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const body = Buffer.concat(chunks).toString();
        if (body.includes('keys_only')) await this.beforeRead();
        const answer = await fetch(`${etcdUrl}${request.url}`, { method: 'POST', body });
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        response.end(await answer.text());
      })();
    });
  }

  /** Its URL. */
  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
