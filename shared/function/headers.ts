// One pass over the raw headers of a request: what an event needs, and nothing else. Raw, because
// node's parsed headers join repeated ones into a single value, which would turn two ids into one
// that nobody sent.
import type { IncomingMessage } from 'node:http';
import { Failure } from '../errors.ts';

export interface ScannedHeaders {
  contentType: string | undefined;
  contentEncoding: string | undefined;
  contentLength: number | undefined;
  traceparent: string | undefined;
  /** Attribute name (lower case, without `ce-`) and the value as it was sent. */
  readonly attributes: Map<string, string>;
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/** Undefined for what is not one: a broken trace is worth less than none. */
export const asTraceparent = (value: unknown): string | undefined =>
  typeof value === 'string' && TRACEPARENT.test(value) ? value : undefined;

export function scanHeaders(raw: readonly string[]): ScannedHeaders {
  const scanned: ScannedHeaders = {
    contentType: undefined,
    contentEncoding: undefined,
    contentLength: undefined,
    traceparent: undefined,
    attributes: new Map(),
  };
  for (let index = 0; index + 1 < raw.length; index += 2) {
    take(scanned, raw[index] ?? '', raw[index + 1] ?? '');
  }
  return scanned;
}

function take(scanned: ScannedHeaders, rawName: string, value: string): void {
  const name = rawName.toLowerCase();
  if (name.startsWith('ce-')) {
    const attribute = name.slice(3);
    if (scanned.attributes.has(attribute)) throw repeated(name);
    scanned.attributes.set(attribute, value);
    return;
  }
  switch (name) {
    case 'content-type':
      if (scanned.contentType !== undefined) throw repeated(name);
      scanned.contentType = value;
      break;
    case 'content-encoding':
      scanned.contentEncoding = value;
      break;
    case 'content-length':
      scanned.contentLength = Number(value);
      break;
    case 'traceparent':
      scanned.traceparent = asTraceparent(value) ?? scanned.traceparent;
      break;
    default:
  }
}

function repeated(name: string): Failure {
  const message = `The header ${name} was sent twice; which one counts is unclear. Send it once.`;
  return new Failure('EVENT_ATTRIBUTE_REPEATED', message, { field: name });
}

/** Characters of an authority: no blank, and nothing of the parts around it. */
const HOST = /^[\w\-.~%!$&'()*+,;=:[\]]*$/;

/** RFC 9112, 3.2: of two names of the host, proxies and servers believe one or the other. */
export function assertHost({ rawHeaders, httpVersionMinor }: IncomingMessage): void {
  let host: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (host !== undefined) throw badHost('The request has two Host headers; send one.');
    host = rawHeaders[index + 1] ?? '';
  }
  if (host === undefined) {
    if (httpVersionMinor === 0) return;
    throw badHost('The request has no Host header, which HTTP/1.1 requires; send one.');
  }
  if (!HOST.test(host)) throw badHost('The Host header is not the name of a host; correct it.');
}

const badHost = (message: string): Failure =>
  new Failure('REQUEST_MALFORMED', message, { field: 'host' });
