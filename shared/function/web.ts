// Everything that is not an event: Express carries the page about the function, its routes, and
// what HTTP wants to hear about methods and paths. Loaded at the first such request, since no
// event needs it.
import express, { type Express, type Request, type Response } from 'express';
import { Failure } from '../errors.ts';
import { assertAnnouncedLength, readBody } from './body.ts';
import type { Answer, Route, RouteRequest } from './define.ts';
import { scanHeaders } from './headers.ts';
import { decodeJson } from './json.ts';
import { parseMediaType } from './media-type.ts';
import { sendProblem } from './problem.ts';
import { BODY_BYTES_MAX } from './runtime-config.ts';
import type { Outcome, Runtime } from './runtime.ts';
import { textOf } from './table.ts';
import { welcome } from './welcome.ts';
import { Work } from './work.ts';

class RouteWork<Doors> extends Work<Doors> {
  readonly route: string;

  constructor(runtime: Runtime<Doors>, response: Response, route: string) {
    super(runtime, response);
    this.route = route;
  }

  protected override logFields(): Record<string, unknown> {
    const { route, traceparent } = this;
    return { route, ...(traceparent === undefined ? {} : { traceparent }) };
  }

  protected override count(outcome: Outcome): void {
    this.runtime.routes.add(1, { route: this.route, outcome });
  }
}

export function createWeb<Doors>(runtime: Runtime<Doors>): Express {
  const { definition } = runtime;
  const { routes = [] } = definition;
  const app = express();
  app.disable('x-powered-by');
  // Answers come from a world that moves: nothing is to be compared with yesterday's.
  app.disable('etag');
  const methods = new Map<string, Set<string>>([['/', new Set(['GET', 'HEAD'])]]);
  if (definition.handle !== undefined) methods.get('/')?.add('POST');
  app.get('/', (request, response) => sendAnswer(request, response, welcome(runtime)));
  for (const route of routes) {
    const allowed = methods.get(route.path) ?? new Set();
    allowed.add(route.method);
    if (route.method === 'GET') allowed.add('HEAD');
    methods.set(route.path, allowed);
    const run = (request: Request, response: Response) =>
      runRoute(runtime, route, request, response);
    if (route.method === 'GET') app.get(route.path, run);
    else app.post(route.path, run);
  }
  for (const [path, allowed] of methods) app.all(path, refuseMethod([...allowed, 'OPTIONS']));
  app.use((request, response) => {
    const message = `Nothing answers at ${request.path}; GET / says what does.`;
    sendProblem(response, new Failure('PATH_UNKNOWN', message, { field: 'path' }));
  });
  app.use(malformedPath);
  return app;
}

function refuseMethod(allowed: readonly string[]): (request: Request, response: Response) => void {
  const allow = allowed.join(', ');
  return (request, response) => {
    if (request.method === 'OPTIONS') {
      response.writeHead(204, { allow }).end();
      return;
    }
    const message = `${request.path} does not take ${request.method}; it takes ${allow}.`;
    const failure = new Failure('METHOD_NOT_ALLOWED', message, { field: 'method' });
    sendProblem(response, failure, { allow });
  };
}

async function runRoute<Doors>(
  runtime: Runtime<Doors>,
  route: Route<Doors>,
  request: Request,
  response: Response,
): Promise<void> {
  const work = new RouteWork(runtime, response, `${route.method} ${route.path}`);
  try {
    runtime.gate.enter(work);
  } catch (thrown) {
    work.fail(thrown);
    return;
  }
  try {
    const routeRequest = await readRequest(request, work);
    if (work.isAnswered) return;
    const answer = await route.handle(routeRequest, work);
    work.succeed('done', () => sendAnswer(request, response, answer));
  } catch (thrown) {
    work.fail(thrown);
  } finally {
    runtime.gate.leave(work);
  }
}

async function readRequest<Doors>(request: Request, work: Work<Doors>): Promise<RouteRequest> {
  const headers = scanHeaders(request.rawHeaders);
  work.traceparent = headers.traceparent;
  assertAnnouncedLength(headers.contentLength, BODY_BYTES_MAX);
  const bytes =
    request.method === 'POST' ? await readBody(request, BODY_BYTES_MAX) : Buffer.alloc(0);
  if (bytes.length > 0 && parseMediaType(headers.contentType ?? '')?.isJson !== true) {
    const message = `${request.path} takes JSON; send it with content-type: application/json.`;
    throw new Failure('CONTENT_TYPE_UNSUPPORTED', message, { field: 'content-type' });
  }
  return {
    params: paramsOf(request),
    query: new URL(request.url, 'http://function').searchParams,
    body: bytes.length === 0 ? undefined : decodeJson(bytes, 'body'),
  };
}

/** Express' wildcards give several segments as a list; here they are one path again. */
function paramsOf(request: Request): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.params))
    params[name] = [value].flat().join('/');
  return params;
}

/** JSON, unless the caller would rather have text. */
function sendAnswer(request: Request, response: Response, answer: Answer): void {
  const wantsText = request.accepts(['application/json', 'text/plain']) === 'text/plain';
  const content = wantsText
    ? (answer.text ?? textOf(answer.body))
    : `${JSON.stringify(answer.body)}\n`;
  response
    .writeHead(answer.status ?? 200, {
      'content-type': wantsText ? 'text/plain; charset=utf-8' : 'application/json',
      'content-length': Buffer.byteLength(content),
      vary: 'accept',
    })
    .end(content);
}

/**
 * Express' own refusals: a path that cannot be decoded. Four parameters are how it knows an error
 * handler.
 */
function malformedPath(error: unknown, request: Request, response: Response, _next: unknown): void {
  const message = `The path ${request.path} cannot be decoded; percent-encode it.`;
  sendProblem(response, new Failure('REQUEST_MALFORMED', message, { field: 'path', cause: error }));
}
