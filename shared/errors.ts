// Every failure a function can answer with, in one table. A failure is one of three kinds:
// retry (the sender should come again), reject (it never will work) and bug (ours; the sender keeps the event).
// docs/errors.md explains each code; a test holds the two against each other.

export type FailureKind = 'retry' | 'reject' | 'bug';

interface ErrorRow {
  readonly kind: FailureKind;
  /** Only for rejects that HTTP has a number of its own for (405, 413, 415, 422); retry and bug are always 503. */
  readonly status: number;
  readonly title: string;
}

const retry = (title: string): ErrorRow => ({ kind: 'retry', status: 503, title });
const reject = (title: string, status = 400): ErrorRow => ({ kind: 'reject', status, title });
const bug = (title: string): ErrorRow => ({ kind: 'bug', status: 503, title });

export const errorTable = {
  INTERNAL_BUG: bug('The function met a state that it believed impossible'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

export interface FailureDetail {
  /** The header, attribute, query parameter or JSON path that is at fault. */
  readonly field?: string;
  /** The object it is about, as `pods web/frontend-1`. */
  readonly object?: string;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

export class Failure extends Error {
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly object: string | undefined;
  readonly retryAfterMs: number | undefined;

  /** `message` is a whole sentence: what, which object, what next. */
  constructor(code: ErrorCode, message: string, detail: FailureDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = 'Failure';
    this.code = code;
    this.field = detail.field;
    this.object = detail.object;
    this.retryAfterMs = detail.retryAfterMs;
  }

  get kind(): FailureKind {
    return errorTable[this.code].kind;
  }

  get status(): number {
    return errorTable[this.code].status;
  }
}
