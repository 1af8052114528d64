// Hands each connection on to another address: between a TCP port of loopback and a socket file,
// which reaches into a network namespace where no port of this machine does.
import { connect, createServer, type ListenOptions, type NetConnectOpts } from 'node:net';
import { pipeline } from 'node:stream';

export interface Relay {
  /** The port of a TCP relay; undefined for a socket file. */
  readonly port: number | undefined;
}

/** It keeps no process alive: whoever needs it has other work, and ends it with himself. */
export async function relay(at: ListenOptions, to: NetConnectOpts): Promise<Relay> {
  const server = createServer((socket) => {
    const onward = connect(to);
    // A side that fails takes the other along: that is all that either needs to know.
    const done = (): void => undefined;
    pipeline(socket, onward, done);
    pipeline(onward, socket, done);
  }).unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(at, resolve);
  });
  const address = server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : undefined };
}
