// An impostor of a NATS server: it greets as one, in clear text or with a certificate of its own,
// takes any password, and keeps all that it is sent.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type Identity, issue, makeAuthority } from '../../shared/x509.ts';

export interface RecordingListener extends AsyncDisposable {
  /** All that came, of all connections, and of what TLS hid. */
  readonly heard: () => string;
  readonly connections: () => number;
}

export interface RecordingOptions {
  readonly host: string;
  readonly port?: number;
  /** He speaks TLS, with a certificate for this name that nobody we know has signed. */
  readonly certificateFor?: string;
  /** The one that he shows instead: by an authority of the test's choice. */
  readonly identity?: Identity | undefined;
}

const HOUR_MS = 3_600_000;

export async function startRecordingListener({
  host,
  port = 4_222,
  certificateFor,
  identity = certificateFor === undefined ? undefined : strangerFor(certificateFor),
}: RecordingOptions): Promise<RecordingListener> {
  const sockets = new Set<Socket>();
  let heard = '';
  const listen = (socket: Socket): void => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      heard += bytes.toString('latin1');
      if (bytes.includes('PING')) socket.write('PONG\r\n');
    });
  };
  const own = { cert: identity?.certPem, key: identity?.keyPem };
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    const tls = identity !== undefined;
    socket.write(`INFO {"server_id":"x","version":"2.15.2","tls_required":${tls}}\r\n`);
    listen(identity === undefined ? socket : new TLSSocket(socket, { isServer: true, ...own }));
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    heard: () => heard,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function strangerFor(name: string): Identity {
  const nowMs = Date.now();
  const validity = { fromMs: nowMs - HOUR_MS, toMs: nowMs + HOUR_MS };
  const authority = makeAuthority('a stranger', validity);
  return issue(authority, { commonName: name, hosts: [name] }, validity);
}
