// Sends the same event over a few kept-alive connections, one at a time on each, as Go's senders
// do. Writes prepared bytes to plain sockets, so that on two cores the load costs less than what
// it measures.
import { type Socket, connect } from 'node:net';

const HEAD_END = '\r\n\r\n';

export function requestBytes(headers: Readonly<Record<string, string>>, body: string): Buffer {
  const all = { host: '127.0.0.1', ...headers, 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(`POST / HTTP/1.1\r\n${lines.join('\r\n')}${HEAD_END}${body}`);
}

/** Resolves when `count` events were answered with 204; anything else fails the run. */
export async function sendEvents(
  port: number,
  event: Buffer,
  count: number,
  connections: number,
): Promise<void> {
  let toSend = count;
  const take = (): boolean => {
    toSend -= 1;
    return toSend >= 0;
  };
  await Promise.all(Array.from({ length: connections }, () => sendOnOne(port, event, take)));
}

function sendOnOne(port: number, event: Buffer, take: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('latin1');
    const next = (): void => {
      if (take()) socket.write(event);
      else socket.end();
    };
    socket.on('connect', next);
    readAnswers(socket, next);
    socket.on('error', reject);
    socket.on('close', () => resolve());
  });
}

function readAnswers(socket: Socket, next: () => void): void {
  let received = '';
  socket.on('data', (text: string) => {
    received += text;
    if (!received.endsWith(HEAD_END)) return;
    if (received.startsWith('HTTP/1.1 204')) next();
    else socket.destroy(new Error(`An event was answered with ${received.split('\r\n')[0]}.`));
    received = '';
  });
}
