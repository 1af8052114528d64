// Every refusal on the wire: application/problem+json (RFC 9457) with the code, a sentence, and
// the field at fault.
import type { ServerResponse } from 'node:http';
import { Failure, errorTable } from '../errors.ts';

interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly field?: string;
  readonly object?: string;
}

const MEDIA_TYPE = 'application/problem+json';

function problemOf(failure: Failure): Problem {
  const { code, status, message, field, object } = failure;
  return {
    // A name, not an address: docs/errors.md has a section for each code.
    type: `tag:ballast.dev,2026:errors:${code}`,
    title: errorTable[code].title,
    status,
    code,
    // The message of a bug is for the log; the sender cannot act on it.
    detail: failure.kind === 'bug' ? `${errorTable[code].title}; send it again later.` : message,
    ...(field === undefined ? {} : { field }),
    ...(object === undefined ? {} : { object }),
  };
}

function problemHeaders(failure: Failure, body: string): Record<string, string | number> {
  const { retryAfterMs } = failure;
  return {
    'content-type': MEDIA_TYPE,
    'content-length': Buffer.byteLength(body),
    // Whole seconds, rounded up: too early is a wasted try.
    ...challengeOf(failure),
    ...(retryAfterMs === undefined ? {} : { 'retry-after': Math.ceil(retryAfterMs / 1_000) }),
  };
}

/** RFC 6750: a sender that had no token learns only that one is wanted. */
function challengeOf({ status, code, message }: Failure): Record<string, string> {
  if (status !== 401) return {};
  const realm = 'Bearer realm="ballast"';
  const isInvalid = code === 'SENDER_TOKEN_INVALID';
  const error = `error="invalid_token", error_description="${message.replaceAll('"', "'")}"`;
  return { 'www-authenticate': isInvalid ? `${realm}, ${error}` : realm };
}

export function sendProblem(
  response: ServerResponse,
  failure: Failure,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = JSON.stringify(problemOf(failure));
  response.writeHead(failure.status, { ...problemHeaders(failure, body), ...headers });
  response.end(body);
}

/** For connections whose request never became one: node has no response object for them. */
export function rawProblem(failure: Failure, reason: string): string {
  const body = JSON.stringify(problemOf(failure));
  const headers = { ...problemHeaders(failure, body), connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${failure.status} ${reason}`, ...lines, '', body].join('\r\n');
}

/**
 * Whatever was thrown, as a Failure: what nobody foresaw is a bug, and the sender keeps the
 * event.
 */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  const problem = thrown instanceof Error ? thrown.message : String(thrown);
  return new Failure('INTERNAL_BUG', `A handler threw what it should not: ${problem}`, {
    cause: thrown,
  });
}
