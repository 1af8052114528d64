// A TLS handshake in memory, as a client and a server have it, or two servers with each other.
import { duplexPair } from 'node:stream';
import { connect, createSecureContext, TLSSocket } from 'node:tls';
import type { CertificateFiles } from '../../../shared/stateful/certificates/secret-data.ts';

export interface Handshake {
  /** The name by which the server is asked. */
  readonly host: string;
  /** The server wants a certificate of the one who asks. */
  readonly isMutual: boolean;
}

/** `believed`, or why one of the two does not believe the other. */
export function handshake(
  { host, isMutual }: Handshake,
  asks: CertificateFiles,
  server: CertificateFiles,
): Promise<string> {
  const [near, far] = duplexPair();
  const own = ({ certificate: cert, key, ca }: CertificateFiles) => ({ cert, key, ca });
  const accepted = new TLSSocket(far, {
    isServer: true,
    secureContext: createSecureContext(own(server)),
    requestCert: isMutual,
    rejectUnauthorized: isMutual,
  });
  const asked = connect({
    socket: near,
    servername: host,
    ...(isMutual ? own(asks) : { ca: asks.ca }),
  });
  return new Promise<string>((resolve) => {
    for (const one of [accepted, asked]) one.on('error', ({ message }) => resolve(message));
    // Said after the server has looked at the certificate of the one who asks.
    accepted.on('secure', () => accepted.write('welcome'));
    asked.on('data', () => resolve('believed'));
  }).finally(() => {
    accepted.destroy();
    asked.destroy();
  });
}
