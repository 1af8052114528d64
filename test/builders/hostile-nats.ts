// A NATS server that does what no NATS server does: it speaks just enough of the protocol to be let
// in, and then says whatever a test wants, as fast as it is read.
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

export interface NatsRequest {
  readonly socket: Socket;
  /** `VARZ`, or all of the subject. */
  readonly command: string;
  /** As one message to whoever asked. */
  readonly answer: (payload: string | Buffer, reply?: string) => void;
  /** Its head alone. */
  readonly announce: (bytes: number) => void;
}

export interface Manners {
  /** Instead of the INFO line. */
  readonly greet?: (socket: Socket) => void;
  /** Instead of PONG. */
  readonly admit?: (socket: Socket) => void;
  readonly onRequest?: (request: NatsRequest) => void;
}

export interface HostileNats extends AsyncDisposable {
  readonly address: string;
}

const PING = '$SYS.REQ.SERVER.PING.';

export async function startHostileNats(manners: Manners): Promise<HostileNats> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    if (manners.greet !== undefined) return manners.greet(socket);
    socket.write('INFO {"server_id":"x","version":"2.15.2","proto":1,"headers":true}\r\n');
    let text = '';
    let sid = '';
    socket.on('data', (bytes) => {
      text += bytes.toString();
      for (let end = text.indexOf('\r\n'); end !== -1; end = text.indexOf('\r\n')) {
        const [verb, ...args] = text.slice(0, end).split(' ');
        text = text.slice(end + 2);
        if (verb === 'PING') (manners.admit ?? ((one) => one.write('PONG\r\n')))(socket);
        if (verb === 'SUB') sid = args[1] ?? '';
        if (verb === 'PUB') manners.onRequest?.(askedOf(socket, args, sid));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function askedOf(
  socket: Socket,
  [subject = '', inbox = '']: readonly string[],
  sid: string,
): NatsRequest {
  const head = (bytes: number, reply?: string) =>
    socket.write(`MSG ${[inbox, sid, reply ?? [], bytes].flat().join(' ')}\r\n`);
  return {
    socket,
    command: subject.replace(PING, ''),
    announce: (bytes) => void head(bytes),
    answer: (payload, reply) => {
      head(Buffer.byteLength(payload), reply);
      socket.write(payload);
      socket.write('\r\n');
    },
  };
}

const CHUNK = Buffer.alloc(1 << 16, 'x');

/** Until nobody reads any more. */
export function flood(socket: Socket, chunk: Buffer = CHUNK): void {
  if (socket.destroyed) return;
  if (socket.write(chunk)) setImmediate(() => flood(socket, chunk));
  else socket.once('drain', () => flood(socket, chunk));
}
