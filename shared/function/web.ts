// Everything that is not an event: Express carries the page about the function, its routes, and
// what HTTP wants to hear about methods and paths. Loaded at the first such request, since no
// event needs it.
import express, { type Express, type Request, type Response } from 'express';
import { quoted } from '../cut.ts';
import { Failure } from '../errors.ts';
import { Answer as HttpAnswer } from './answer.ts';
import { type BodyLimit, BODY_BYTES_MAX, assertAnnouncedLength, assertNotEncoded } from './body.ts';
import type { Answer, FileBody, Route, RouteRequest } from './define.ts';
import { type ScannedHeaders, scanHeaders } from './headers.ts';
import { decodeJson } from './json.ts';
import { parseMediaType } from './media-type.ts';
import { READ_METHODS, refuseMethod } from './methods.ts';
import { sendProblem } from './problem.ts';
import { refuseAsBug } from './refuse.ts';
import type { Outcome, Runtime } from './runtime.ts';
import { textOf } from './table.ts';
import { welcome } from './welcome.ts';
import { Work } from './work.ts';

class RouteWork<Deps> extends Work<Deps> {
  readonly route: string;

  constructor(runtime: Runtime<Deps>, response: Response, route: string) {
    super(runtime, response);
    this.route = route;
  }

  protected override logFields(): Record<string, unknown> {
    const { route, traceparent } = this;
    return { route, ...(traceparent === undefined ? {} : { traceparent }) };
  }

  protected override count(outcome: Outcome, tookMs: number): void {
    this.runtime.countRoute(this.route, outcome, tookMs);
  }
}

export function createWeb<Deps>(runtime: Runtime<Deps>): Express {
  const { definition } = runtime;
  const { routes = [] } = definition;
  const app = express();
  app.disable('x-powered-by');
  // Answers come from a world that moves: nothing is to be compared with yesterday's.
  app.disable('etag');
  // Express gives each response another prototype than the server's.
  const own = Object.getOwnPropertyDescriptor(HttpAnswer.prototype, 'writeHead');
  Object.defineProperty(app.response, 'writeHead', own ?? {});
  const methods = new Map<string, Set<string>>([['/', new Set(READ_METHODS)]]);
  if (definition.handle !== undefined) methods.get('/')?.add('POST');
  app.get('/', (request, response) => sendAnswer(runtime, request, response, welcome(runtime)));
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
  for (const [path, allowed] of methods) {
    app.all(path, (request, response) =>
      refuseMethod(response, request.method, request.path, [...allowed]),
    );
  }
  app.use((request, response) => {
    const message = `Nothing answers at ${quoted(request.path)}; GET / says what does.`;
    sendProblem(response, new Failure('PATH_UNKNOWN', message, { field: 'path' }));
  });
  app.use(answerError(runtime));
  return app;
}

async function runRoute<Deps>(
  runtime: Runtime<Deps>,
  route: Route<Deps>,
  request: Request,
  response: Response,
): Promise<void> {
  const work = new RouteWork(runtime, response, `${route.method} ${route.path}`);
  const { admission, intake, outbox } = runtime;
  try {
    const routeRequest = await readRequest(request, work, route);
    if (work.isAnswered) return;
    admission.admit(work);
    await outbox.room();
    if (work.isAnswered) return;
    const answer = await route.handle(routeRequest, work);
    work.succeed('done', () => sendAnswer(runtime, request, response, answer));
  } catch (thrown) {
    work.fail(thrown);
  } finally {
    admission.release(work);
    intake.leave(work);
  }
}

async function readRequest<Deps>(
  request: Request,
  work: Work<Deps>,
  { takesFile }: Route<Deps>,
): Promise<RouteRequest> {
  const headers = scanHeaders(request.rawHeaders);
  work.traceparent = headers.traceparent;
  const bytes =
    request.method === 'POST'
      ? await bytesOf(request, work, headers, takesFile ?? { sizeBytesMax: BODY_BYTES_MAX })
      : EMPTY;
  if (bytes.length > 0) assertTaken(request.path, headers.contentType, takesFile);
  const hasJson = bytes.length > 0 && takesFile === undefined;
  const weigh = (sizeBytes: number): void => work.runtime.intake.weigh(work, sizeBytes);
  return {
    params: paramsOf(request),
    query: new URL(request.url, 'http://function').searchParams,
    body: hasJson ? decodeJson(bytes, 'body', weigh) : undefined,
    ...(takesFile === undefined ? {} : { file: bytes }),
  };
}

async function bytesOf<Deps>(
  request: Request,
  work: Work<Deps>,
  { contentLength, contentEncoding }: ScannedHeaders,
  limit: BodyLimit,
): Promise<Buffer> {
  const { intake } = work.runtime;
  intake.enter(work);
  assertAnnouncedLength(contentLength, limit);
  assertNotEncoded(contentEncoding);
  return intake.read(work, request, limit);
}

const EMPTY = Buffer.alloc(0);
const FILE_TYPE = 'application/octet-stream';

function assertTaken(path: string, contentType: string | undefined, file?: FileBody): void {
  const isFile = file !== undefined && file.isJson !== true;
  const type = parseMediaType(contentType ?? '');
  if (isFile ? type?.essence === FILE_TYPE : type?.isJson === true) return;
  const [content, wanted] = isFile ? ['a file', FILE_TYPE] : ['JSON', 'application/json'];
  const message = `${quoted(path)} takes ${content}; send it with content-type: ${wanted}.`;
  throw new Failure('CONTENT_TYPE_UNSUPPORTED', message, { field: 'content-type' });
}

/** Express' wildcards give several segments as a list; here they are one path again. */
function paramsOf(request: Request): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.params))
    params[name] = [value].flat().join('/');
  return params;
}

/** Senders drop an event on these: docs/errors.md promises that they never get one. */
const NEVER_SENT = [408, 409, 500];

/** JSON, unless the caller would rather have text. Throws a bug before a byte is sent. */
function sendAnswer<Deps>(
  { outbox }: Runtime<Deps>,
  request: Request,
  response: Response,
  answer: Answer,
): void {
  const { status = 200 } = answer;
  if (NEVER_SENT.includes(status)) {
    const path = quoted(request.path);
    const message = `The answer of ${path} cannot be sent: its status is ${status}.`;
    throw new Failure('REPLY_INVALID', message);
  }
  const { file } = answer;
  if (file !== undefined) {
    const { type, content } = file;
    const sizeBytes = Buffer.byteLength(content);
    outbox.note(response, sizeBytes);
    response.writeHead(status, { 'content-type': type, 'content-length': sizeBytes }).end(content);
    return;
  }
  const wantsText = request.accepts(['application/json', 'text/plain']) === 'text/plain';
  const content = wantsText
    ? (answer.text ?? textOf(answer.body))
    : `${JSON.stringify(answer.body)}\n`;
  const sizeBytes = Buffer.byteLength(content);
  outbox.note(response, sizeBytes);
  response
    .writeHead(status, {
      'content-type': wantsText ? 'text/plain; charset=utf-8' : 'application/json',
      'content-length': sizeBytes,
      vary: 'accept',
    })
    .end(content);
}

/** Four parameters are how Express knows an error handler. */
function answerError<Deps>(
  runtime: Runtime<Deps>,
): (thrown: unknown, request: Request, response: Response, next: unknown) => void {
  return (thrown, request, response, _next) => {
    if (!isClientError(thrown)) return refuseAsBug(runtime, response, thrown);
    const message = `The path ${quoted(request.path)} cannot be decoded; percent-encode it.`;
    const detail = { field: 'path', cause: thrown };
    sendProblem(response, new Failure('REQUEST_MALFORMED', message, detail));
  };
}

/** Express' own refusals carry their status: the one that can happen is a path it cannot decode. */
function isClientError(thrown: unknown): boolean {
  if (typeof thrown !== 'object' || thrown === null || !('status' in thrown)) return false;
  const { status } = thrown;
  return typeof status === 'number' && status >= 400 && status < 500;
}
