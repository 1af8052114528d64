// A client of NATS that asks before it is allowed: it sends what it is told to, whatever that is,
// and keeps what the server refuses.
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';

export class RawClient {
  readonly #socket: Socket;
  readonly #refused = new Set<string>();
  #text = '';
  #pongs = 0;
  #heard: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1').on('data', (data: string) => this.#read(data));
    // A server that refuses may reset the connection; a close follows.
    socket.on('error', () => undefined).on('close', () => this.#heard());
  }

  static async open(url: string): Promise<RawClient> {
    const { hostname, port, username: user, password: pass } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const client = new RawClient(socket);
    const login = user === '' ? {} : { user, pass };
    const options = { verbose: false, pedantic: false, headers: true, no_responders: true };
    socket.write(`CONNECT ${JSON.stringify({ ...options, ...login })}\r\n`);
    await client.flush();
    return client;
  }

  /** The refusals of the server so far, in its words. */
  get refused(): ReadonlySet<string> {
    return this.#refused;
  }

  get isClosed(): boolean {
    return this.#socket.closed;
  }

  publish(subject: string, body = '', reply = ''): void {
    this.#socket.write(`PUB ${subject} ${reply} ${Buffer.byteLength(body)}\r\n${body}\r\n`);
  }

  subscribe(subject: string, queue = ''): void {
    this.#socket.write(`SUB ${subject} ${queue} ${Math.trunc(Math.random() * 1e9)}\r\n`);
  }

  /** Everything before it has been taken or refused. */
  async flush(): Promise<void> {
    const wanted = this.#pongs + 1;
    this.#socket.write('PING\r\n');
    while (this.#pongs < wanted && !this.#socket.closed) {
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Nothing that a message holds looks like these lines. */
  #read(data: string): void {
    this.#text += data;
    const lines = this.#text.split('\r\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) {
      if (line === 'PONG') this.#pongs += 1;
      if (line === 'PING') this.#socket.write('PONG\r\n');
      const found = /^-ERR '(?:Permissions )?Violation.*?"(.*?)"/i.exec(line);
      if (found !== null) this.#refused.add(found[1] ?? '');
    }
    this.#heard();
  }
}
