// The HTTP side of the broker process: `POST /<namespace>/<broker>` is an ingress, `GET /stats`
// shows what went through.
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { CallerGone, assertAnnouncedLength, readBody } from '../../../../shared/function/body.ts';
import { Failure } from '../../../../shared/errors.ts';
import type { Broker } from './broker.ts';
import { InvalidEvent, readEvent } from './event.ts';
import { passThrough } from './headers.ts';
import { EVENT_BYTES_MAX } from './limits.ts';
import type { StatsBook } from './stats.ts';

/**
 * Longer than the 90 s for which Go's clients keep an idle connection: whoever closes first loses
 * no event.
 */
const KEEP_ALIVE_MS = 120_000;
const BROKER_PATH = /^\/([^/]+\/[^/]+)\/?$/;
const WEBHOOK = {
  allow: 'POST, OPTIONS',
  'webhook-allowed-origin': '*',
  'webhook-allowed-rate': '*',
};

export function createIngress(broker: Broker, stats: StatsBook): Server {
  const server = createServer((request, response) => {
    void answer(broker, stats, request, response);
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return server;
}

async function answer(
  broker: Broker,
  stats: StatsBook,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method, url = '' } = request;
  if (method === 'GET' && url === '/stats') return sendJson(response, stats.read());
  if (method === 'GET' && url === '/health/readiness') return void response.writeHead(204).end();
  if (method === 'OPTIONS') return void response.writeHead(200, WEBHOOK).end();
  const refuse = (status: number, why: string): void => {
    stats.countRefused(status);
    response.writeHead(status, { ...WEBHOOK, 'content-type': 'text/plain' }).end(`${why}\n`);
  };
  if (method !== 'POST') return refuse(405, 'events come by POST');
  if (url === '/') return refuse(404, 'the path of a broker is /<namespace>/<name>');
  const key = BROKER_PATH.exec(url)?.[1];
  if (key === undefined) return refuse(400, 'the path of a broker is /<namespace>/<name>');
  try {
    const limit = { sizeBytesMax: EVENT_BYTES_MAX };
    assertAnnouncedLength(Number(request.headers['content-length'] ?? 0), limit);
    const body = await readBody(request, limit);
    const event = readEvent(request.rawHeaders, body);
    if (event === undefined) return refuse(400, 'the request is not a CloudEvent');
    response
      .writeHead(broker.accept(key, { event, headers: passThrough(request.rawHeaders) }))
      .end();
  } catch (error) {
    if (error instanceof CallerGone) return;
    if (error instanceof InvalidEvent) return refuse(400, error.message);
    if (error instanceof Failure) return refuse(error.status, error.message);
    throw error;
  }
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
