// When a call is sent again, and after which pause. Pure.
//
// Sent again after an answer of 429, whatever it is: the API server refused before it did anything.
// After any other failure that may pass, only what can be repeated:
//   reads                              always
//   apply, of a sub-resource too       always: what its manager says is the same the second time
//   create with a name                 always: the second one finds the first
//   update, delete with precondition, merge patch with a resourceVersion
//                                      always: the second one misses its precondition and
//                                      changes nothing, though it may say conflict or absent
//   create with a generated name or of a sub-resource, any other patch, delete without
//   precondition                       only when the request surely never reached the API server

export type Repeat = 'always' | 'unsent';

/** The result of an attempt that did not succeed. */
export type Setback =
  | {
      readonly statusCode: number;
      readonly retryAfterMs: number | undefined;
    }
  | { readonly transportCode: string };

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

/** The connection was never made, so nothing was sent on it. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The connection broke, or nobody answered on it: the API server may have done the work or not. */
const CUT = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

const TRANSIENT_STATUS = new Set([500, 502, 503, 504]);

export function mayRepeat(setback: Setback, repeat: Repeat): boolean {
  if ('transportCode' in setback) {
    const { transportCode } = setback;
    return UNSENT.has(transportCode) || (repeat === 'always' && CUT.has(transportCode));
  }
  if (setback.statusCode === 429) return true;
  return repeat === 'always' && TRANSIENT_STATUS.has(setback.statusCode);
}

/**
 * Doubles from attempt to attempt, spread over its upper half so that callers that failed
 * together part.
 */
export function pauseMs(attempt: number, random: () => number, serverSaysMs = 0): number {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
  // The server's word is the least that we wait; the spread comes on top of it.
  return serverSaysMs + longest * (0.5 + random() / 2);
}

/** Seconds, or a date, as HTTP allows; undefined when there is none or it cannot be read. */
export function retryAfterMs(
  header: string | readonly string[] | undefined,
  nowMs: number,
): number | undefined {
  const text = typeof header === 'string' ? header.trim() : header?.[0]?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
