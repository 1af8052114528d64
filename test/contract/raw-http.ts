// Sends bytes as they are over a socket and reads one answer: what no well-behaved client lets a
// test do.
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Resolves when the server has closed the connection or the answer is complete. */
export function sendRaw(port: number, ...parts: readonly (string | Buffer)[]): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      received += text;
      const answer = answerIn(received);
      if (answer === undefined) return;
      socket.destroy();
      resolve(answer);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`The connection ended after: ${received}`)));
    for (const part of parts) socket.write(part);
  });
}

export function head(
  headers: readonly (readonly [string, string])[],
  start = 'POST / HTTP/1.1',
): string {
  return headWithoutHost([['host', 'test'], ...headers], start);
}

export function headWithoutHost(
  headers: readonly (readonly [string, string])[],
  start = 'POST / HTTP/1.1',
): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return [start, ...lines, '', ''].join('\r\n');
}

function answerIn(text: string): RawAnswer | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [start = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = text.slice(end + 4);
  if (body.length < Number(headers['content-length'] ?? 0)) return undefined;
  return { status: Number(start.split(' ')[1]), headers, body };
}

/** A connection that sends what it is told, and hears all that comes until it is closed. */
export class RawConnection {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  text = '';

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1').on('data', (part: string) => (this.text += part));
    // The text has all that it was told; a reset ends it as well as a good end.
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
  }

  /** Ends its own half with the other side's, as most do. */
  static async open(port: number, ...parts: readonly (string | Buffer)[]): Promise<RawConnection> {
    const opened = await RawConnection.openStubborn(port);
    opened.socket.once('end', () => opened.socket.end());
    for (const part of parts) opened.socket.write(part);
    return opened;
  }

  /** Goes on sending until the connection is cut off. */
  static async openStubborn(
    port: number,
    ...parts: readonly (string | Buffer)[]
  ): Promise<RawConnection> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const opened = new RawConnection(socket);
    await once(socket, 'connect');
    for (const part of parts) socket.write(part);
    return opened;
  }

  /** The status of each answer so far, interim ones left out. */
  get statuses(): readonly number[] {
    const found = this.text.matchAll(/HTTP\/1\.1 ([2-5]\d\d) /g);
    return [...found].map(([, status]) => Number(status));
  }

  /** The code of each problem so far. */
  get codes(): readonly string[] {
    return [...this.text.matchAll(/"code":"(\w+)"/g)].map(([, code]) => code ?? '');
  }
}
