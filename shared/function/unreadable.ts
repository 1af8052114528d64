// Requests that node could not parse, as a Failure and in the words of its status line.
import { Failure } from '../errors.ts';
import { HEADERS_TIMEOUT_MS, HEADER_BYTES_MAX } from './runtime-config.ts';

export interface Unreadable {
  readonly reason: string;
  readonly failure: Failure;
}

export function unreadable(code: string | undefined): Unreadable {
  const [reason, make] = clientFailures[code ?? ''] ?? ['Bad Request', malformed];
  return { reason, failure: make() };
}

/**
 * By the code of the error that node reports. 408 is never said: senders drop the event on it,
 * and try again on 503.
 */
const clientFailures: Readonly<Record<string, readonly [reason: string, make: () => Failure]>> = {
  HPE_HEADER_OVERFLOW: [
    'Request Header Fields Too Large',
    () => {
      const message = `The headers are larger than ${HEADER_BYTES_MAX} bytes together; send less.`;
      return new Failure('HEADERS_TOO_LARGE', message, { field: 'headers' });
    },
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    'Service Unavailable',
    () => {
      const seconds = HEADERS_TIMEOUT_MS / 1_000;
      const message = `The head of the request did not arrive within ${seconds} s; repeat it.`;
      return new Failure('REQUEST_TOO_SLOW', message);
    },
  ],
};

function malformed(): Failure {
  return new Failure('REQUEST_MALFORMED', 'The request is not HTTP/1.1 as its grammar has it.', {
    field: 'request',
  });
}
