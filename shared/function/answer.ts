// The answer to a request, as node makes it for the server, and whether all of the request is
// there.
import type {
  IncomingMessage,
  OutgoingHttpHeader,
  OutgoingHttpHeaders,
  ServerResponse as Response,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

// Not imported, for the reason that server.ts gives.
const { ServerResponse } = process.getBuiltinModule('node:http');

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * The last of each connection, until it and its request are over: what is kept beyond that lives
 * long enough to be taken for old, and the heap grows by what it holds.
 */
const last = new WeakMap<Duplex, Response>();

export const lastOf = (socket: Duplex): Response | undefined => last.get(socket);

export function noteAnswer(socket: Duplex, response: Response): void {
  last.set(socket, response);
}

/** Emits `broken`, with a Failure, when the rest of its request will not come, or is none. */
export class Answer extends ServerResponse {
  override writeHead(status: number, reason?: string, headers?: Headers): this;
  override writeHead(status: number, headers?: Headers): this;
  override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
    // The rest of this request would be read as the next one, and nobody waits for all of it.
    if (!isWhole(this.req)) this.shouldKeepAlive = false;
    return typeof reason === 'string'
      ? super.writeHead(status, reason, headers)
      : super.writeHead(status, reason ?? headers);
  }

  /** Node calls it when all is written. */
  override detachSocket(socket: Socket): void {
    super.detachSocket(socket);
    if (last.get(socket) === this && isWhole(this.req)) last.delete(socket);
  }
}

/** Node says complete of a request without a body only after it was listened to. */
export function isWhole({ complete, headers }: IncomingMessage): boolean {
  if (complete) return true;
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  return coding === undefined && Number(length) === 0;
}
