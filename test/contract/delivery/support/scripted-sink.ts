// An HTTP server that answers as a test tells it, by what the request says, and remembers every
// request.
import { once } from 'node:events';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  createServer,
} from 'node:http';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly atMs: number;
}

export interface ScriptedAnswer {
  /** 0 resets the connection, -1 never answers. */
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** `earlier` is how many requests with the same key came before. */
export type Script = (
  received: Received,
  earlier: number,
) => ScriptedAnswer | Promise<ScriptedAnswer>;

export class ScriptedSink {
  readonly received: Received[] = [];
  readonly #script: Script;
  readonly #server: Server;

  constructor(script: Script = () => ({ status: 204 })) {
    this.#script = script;
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', () => {
        const { url: path = '', headers } = request;
        const body = Buffer.concat(chunks).toString('utf8');
        void this.#answer({ path, headers, body, atMs: performance.now() }, request, response);
      });
    });
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the sink is closed');
    return `http://127.0.0.1:${address.port}`;
  }

  async listen(port = 0): Promise<this> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  async #answer(
    received: Received,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const earlier = this.of(subjectOf(received)).length;
    this.received.push(received);
    const { status, headers, body } = await this.#script(received, earlier);
    if (status === 0) request.socket.resetAndDestroy();
    else if (status > 0) response.writeHead(status, { ...headers }).end(body);
  }

  /** All tries to deliver events about one object. */
  of(subject: string): readonly Received[] {
    return this.received.filter((received) => subjectOf(received) === subject);
  }

  ofType(type: string): readonly Received[] {
    return this.received.filter(({ headers }) => headers['ce-type'] === type);
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

const subjectOf = ({ headers }: Received): string => String(headers['ce-subject']);
