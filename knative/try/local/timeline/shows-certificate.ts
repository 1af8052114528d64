// Whether somebody at a port of this machine shows a certificate. Whether it is believed is for the
// API server to say: nothing is sent here.
import { connect } from 'node:tls';

export function showsCertificate(port: number, signal: AbortSignal): Promise<true> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    const onAbort = (): void => void socket.destroy(new Error('nobody shakes hands'));
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('secureConnect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', reject);
    socket.once('close', () => signal.removeEventListener('abort', onAbort));
  });
}
