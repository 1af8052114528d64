// The answer to a request, as node makes it for the server, and whether all of the request is
// there.
import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';

// Not imported, for the reason that server.ts gives.
const { ServerResponse } = process.getBuiltinModule('node:http');

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** Emits `broken`, with a Failure, when the rest of its request will not come, or is none. */
export class Answer extends ServerResponse {
  override writeHead(status: number, reason?: string, headers?: Headers): this;
  override writeHead(status: number, headers?: Headers): this;
  override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
    // What is left of its request is not the next one, and nobody waits for all of it.
    if (!isWhole(this.req)) this.shouldKeepAlive = false;
    return typeof reason === 'string'
      ? super.writeHead(status, reason, headers)
      : super.writeHead(status, reason ?? headers);
  }
}

/** Node says complete of a request without a body only after it was listened to. */
export function isWhole({ complete, headers }: IncomingMessage): boolean {
  if (complete) return true;
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  return coding === undefined && Number(length) === 0;
}
