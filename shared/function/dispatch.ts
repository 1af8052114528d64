// Sends each request to its handler. Events and probes are answered straight from node's listener;
// metrics and everything else are loaded when first asked for, so that neither a cold start nor an
// event pays for them.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Failure } from '../errors.ts';
import { OWN_PATHS } from './define.ts';
import { eventModeOf } from './event.ts';
import { receiveEvent, refuseEvent } from './event-work.ts';
import { scanHeaders } from './headers.ts';
import { sendLiveness, sendReadiness } from './health.ts';
import type { MetricsPage } from './metrics-page.ts';
import { READ_METHODS, refuseMethod } from './methods.ts';
import { refuseAsBug, refuseRequest } from './refuse.ts';
import type { Runtime } from './runtime.ts';
import type { Listener } from './server.ts';

export function createDispatch<Deps>(runtime: Runtime<Deps>): Listener {
  const web = lazily(runtime, async () => (await import('./web.ts')).createWeb(runtime));
  const toWeb = withHeaders(runtime, guarded(runtime, web));
  const toMetrics = lazily(runtime, async () => {
    const { openMetricsPage } = await import('./metrics-page.ts');
    const page = openMetricsPage(runtime.metrics);
    return (_request, response) => {
      runtime.readGauges();
      void sendMetrics(runtime, page, response);
    };
  });
  const hasPostRoute = (runtime.definition.routes ?? []).some(
    ({ method, path }) => method === 'POST' && path === '/',
  );
  return (request, response) => {
    // A connection that outlives the process would cost its next request.
    if (runtime.admission.isDraining) response.shouldKeepAlive = false;
    const url = request.url ?? '/';
    if (!url.startsWith('/')) request.url = originFormOf(url);
    const path = pathOf(request.url ?? '/');
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path === '/' && request.method === 'POST') {
      receivePost(runtime, request, response, hasPostRoute ? toWeb : undefined);
    } else if (isRead && path === '/health/readiness') sendReadiness(runtime, response);
    else if (isRead && path === '/health/liveness') sendLiveness(runtime, response);
    else if (isRead && path === '/metrics') toMetrics(request, response);
    else if (OWN_PATHS.includes(path)) {
      refuseMethod(response, request.method ?? '', path, READ_METHODS);
    } else toWeb(request, response);
  };
}

function receivePost<Deps>(
  runtime: Runtime<Deps>,
  request: IncomingMessage,
  response: ServerResponse,
  toWeb: Listener | undefined,
): void {
  try {
    const headers = scanHeaders(request.rawHeaders);
    const mode = eventModeOf(headers);
    if (mode !== undefined) void receiveEvent(runtime, request, response, headers, mode);
    else if (toWeb !== undefined) toWeb(request, response);
    else throw notAnEvent();
  } catch (thrown) {
    refuseEvent(runtime, response, thrown);
  }
}

function notAnEvent(): Failure {
  const message =
    'POST / takes CloudEvents: headers ce-specversion, ce-id, ce-source and ce-type with the ' +
    'data as the body, or application/cloudevents+json. This request has neither; GET / says ' +
    'what this function wakes on.';
  return new Failure('NOT_AN_EVENT', message, { field: 'ce-specversion' });
}

async function sendMetrics<Deps>(
  runtime: Runtime<Deps>,
  page: MetricsPage,
  response: ServerResponse,
): Promise<void> {
  try {
    const text = await page.text();
    runtime.outbox.note(response, text.length);
    response.writeHead(200, { 'content-type': page.contentType }).end(text);
  } catch (thrown) {
    refuseAsBug(runtime, response, thrown);
  }
}

/** Also on refusals, which are shown as well. */
function withHeaders<Deps>({ definition }: Runtime<Deps>, listener: Listener): Listener {
  const headers = Object.entries(definition.headers ?? {});
  if (headers.length === 0) return listener;
  return (request, response) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    listener(request, response);
  };
}

/** Lets plain HTTP in like events, where it is to be: from senders only. */
function guarded<Deps>(runtime: Runtime<Deps>, listener: Listener): Listener {
  const { senders, definition } = runtime;
  if (!senders.guardsRoutes) return listener;
  const isOpen = ({ isOpen: open = false }: { readonly isOpen?: boolean }): boolean => open;
  const open = new Set((definition.routes ?? []).filter(isOpen).map(({ path }) => path));
  return (request, response) => {
    if (open.has(pathOf(request.url ?? '/'))) return listener(request, response);
    const refuse = (thrown: unknown): void => refuseRequest(runtime, response, thrown);
    try {
      if (definition.isForSenders === true) senders.assertNamed(request);
      const admission = senders.admit(request);
      if (admission === undefined) listener(request, response);
      else admission.then(() => listener(request, response)).catch(refuse);
    } catch (thrown) {
      refuse(thrown);
    }
  };
}

/** Loads a listener at its first request; a load that fails is tried again by the next. */
function lazily<Deps>(runtime: Runtime<Deps>, load: () => Promise<Listener>): Listener {
  let loading: Promise<Listener> | undefined;
  return (request, response) => {
    loading ??= load();
    loading.then(
      (listener) => listener(request, response),
      (thrown: unknown) => {
        loading = undefined;
        refuseAsBug(runtime, response, thrown);
      },
    );
  };
}

/** Proxies are asked with the whole address, and so is every server by who takes it for one. */
function originFormOf(url: string): string {
  const parsed = /^https?:/i.test(url) ? URL.parse(url) : null;
  return parsed === null ? url : `${parsed.pathname}${parsed.search}`;
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}
