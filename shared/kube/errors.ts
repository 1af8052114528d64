// Refusals of the API server as failures with stable codes: the verb, the object, the answer, and
// for a 403 the RBAC rule that would have allowed it.
import { cut, quoted } from '../cut.ts';
import { type ErrorCode, Failure } from '../errors.ts';
import { isRecord, textOf } from './json.ts';
import { describeObject } from './paths.ts';
import { explainRefusal } from './rbac.ts';
import type { About } from './request.ts';

export interface FieldCause {
  readonly field: string;
  readonly reason: string;
  readonly message: string;
}

export interface KubeAnswer {
  readonly statusCode: number;
  /** The machine's word of a `Status`: NotFound, AlreadyExists, Conflict, Expired, ... */
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly FieldCause[];
  readonly retryAfterMs?: number | undefined;
  /** With an expired page: where to go on, at the price of a list that is of two moments. */
  readonly continue?: string | undefined;
}

export class KubeError extends Failure {
  readonly about: About;
  /** Undefined when the API server did not answer. */
  readonly answer: KubeAnswer | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    about: About,
    detail: { readonly answer?: KubeAnswer; readonly cause?: unknown } = {},
  ) {
    const { answer, cause } = detail;
    const field = answer?.causes[0]?.field;
    super(code, message, {
      object: subjectOf(about),
      ...(field === undefined ? {} : { field }),
      ...(answer?.retryAfterMs === undefined ? {} : { retryAfterMs: answer.retryAfterMs }),
      cause,
    });
    this.name = 'KubeError';
    this.about = about;
    this.answer = answer;
  }
}

export function isKubeError(error: unknown, ...codes: readonly ErrorCode[]): error is KubeError {
  return error instanceof KubeError && (codes.length === 0 || codes.includes(error.code));
}

/** `patch deployments.apps web/frontend`, `get /version`. */
const attempted = (about: About): string => `${about.verb} ${subjectOf(about)}`;

const subjectOf = (about: About): string =>
  'path' in about ? about.path : describeObject(about.ref, about);

/** The `Status` object that the API server sends with every refusal; a proxy may send anything. */
export function readStatus(
  statusCode: number,
  text: string,
  headerRetryAfterMs?: number,
): KubeAnswer {
  const status = parseRecord(text);
  const { reason, message, details, metadata } = status;
  const { causes, retryAfterSeconds } = isRecord(details) ? details : {};
  const inBodyMs = typeof retryAfterSeconds === 'number' ? retryAfterSeconds * 1000 : undefined;
  const rest: unknown = isRecord(metadata) ? metadata['continue'] : undefined;
  return {
    statusCode,
    reason: quoted(textOf(reason)),
    message:
      typeof message === 'string'
        ? cut(message, MESSAGE_BYTES_MAX)
        : text.trim().slice(0, TEXT_SHOWN_MAX),
    causes: (Array.isArray(causes) ? causes.slice(0, CAUSES_MAX) : [])
      .filter(isRecord)
      .map((cause) => ({
        field: cut(textOf(cause['field']), CAUSE_BYTES_MAX),
        reason: quoted(textOf(cause['reason'])),
        message: cut(textOf(cause['message']), CAUSE_BYTES_MAX),
      })),
    retryAfterMs: headerRetryAfterMs ?? inBodyMs,
    continue: typeof rest === 'string' && rest !== '' ? rest : undefined,
  };
}

/** The text appears in statuses, Events and logs, and may quote a whole object, or a webhook. */
const MESSAGE_BYTES_MAX = 2_000;
const CAUSE_BYTES_MAX = 500;
const CAUSES_MAX = 100;
/** Enough of a proxy's HTML page to recognise it. */
const TEXT_SHOWN_MAX = 300;

function parseRecord(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) ? parsed : {};
  } catch {
    // Not from the API server; its text becomes the message.
    return {};
  }
}

export function errorFromAnswer(about: About, answer: KubeAnswer): KubeError {
  const [code, problem, next] = judge(about, answer);
  const said = answer.message === '' ? '' : ` It said: ${answer.message.replace(/\.?$/, '.')}`;
  const where = `${attempted(about)}: ${answer.statusCode}`;
  const message = `The API server ${problem} (${where}).${said} ${next}`;
  return new KubeError(code, message, about, { answer });
}

export function errorFromTransport(about: About, cause: unknown): KubeError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const where = `${attempted(about)}: ${why}`;
  const message = `The API server cannot be reached (${where}). Try again later.`;
  return new KubeError('KUBE_UNAVAILABLE', message, about, { cause });
}

export function tooLargeError(about: About, bytesMax: number): KubeError {
  const where = `${attempted(about)}: more than ${bytesMax} bytes`;
  const message = `The API server's answer is too large to be read (${where}). Ask for less of it.`;
  return new KubeError('KUBE_TOO_LARGE', message, about);
}

export function timeoutError(about: About, timeoutMs: number, cause: unknown): KubeError {
  const within = `${timeoutMs} ms (${attempted(about)})`;
  const message = `The API server did not finish within ${within}. Try again later.`;
  return new KubeError('KUBE_TIMEOUT', message, about, { cause });
}

const CONFLICT = [
  'KUBE_CONFLICT',
  'has another state than was expected',
  'Read the object and decide again.',
] as const;

/** The code, the middle of the sentence "The API server ...", and what to do next. */
function judge(about: About, answer: KubeAnswer): readonly [ErrorCode, string, string] {
  const { statusCode, reason, causes } = answer;
  const retry = 'Try again later.';
  switch (statusCode) {
    case 401:
      return [
        'KUBE_UNAUTHORIZED',
        'does not know these credentials',
        'Renew the token or certificate.',
      ];
    case 403:
      return ['KUBE_FORBIDDEN', 'refused', explainRefusal(about, answer.message)];
    case 404:
      return ['KUBE_NOT_FOUND', 'has no such object or resource', 'Create it, or install its CRD.'];
    case 409:
      return reason === 'AlreadyExists'
        ? ['KUBE_ALREADY_EXISTS', 'has an object of this name', 'Read it and decide again.']
        : CONFLICT;
    case 410:
      return ['KUBE_EXPIRED', 'no longer has this resourceVersion', 'List again from the start.'];
    case 422:
      // The API server calls another uid an invalid field for custom resources, a conflict for
      // others.
      if (causes.some(({ field }) => field === 'metadata.uid')) return CONFLICT;
      return ['KUBE_INVALID', 'finds the object invalid', 'Correct the named fields.'];
    case 429:
      return ['KUBE_THROTTLED', 'takes no more requests now', retry];
    case 408:
    case 504:
      return ['KUBE_TIMEOUT', 'did not finish in time', retry];
    default:
      return statusCode >= 500
        ? ['KUBE_UNAVAILABLE', 'failed', retry]
        : ['KUBE_BAD_REQUEST', 'cannot read the request', 'Report this as a bug.'];
  }
}

/** The resource itself may be unknown to the API server, which is no statement about the object. */
export function isAbsence(error: unknown): boolean {
  if (!isKubeError(error, 'KUBE_NOT_FOUND')) return false;
  const { reason, message = '' } = error.answer ?? {};
  return reason === 'NotFound' && !message.startsWith('the server could not find');
}
