// Refusals of an object storage, and failures to reach it, with stable codes: which bucket, key and
// part, what it said, and what to do.
import { cut } from '../cut.ts';
import { type ErrorCode, Failure } from '../errors.ts';
import { textIn } from './xml.ts';

/** An answer that is no success. */
export interface Refused {
  readonly statusCode: number;
  /** S3's own word, as `NoSuchKey`; an answer without a body has none. */
  readonly code: string;
  readonly message: string;
  /** Where the bucket is, when it is not in the region that was asked. */
  readonly region: string | undefined;
}

export class S3Failure extends Failure {
  /** Undefined when there was no answer. */
  readonly refused: Refused | undefined;

  constructor(code: ErrorCode, message: string, object: string, more: Partial<S3Cause> = {}) {
    super(code, message, { object, cause: more.cause });
    this.name = 'S3Failure';
    this.refused = more.refused;
  }
}

interface S3Cause {
  readonly cause: unknown;
  readonly refused: Refused;
}

/** The request, in words: `part 3 of s3://bucket/key, bytes 16777216 to 25165824`. */
export interface About {
  readonly what: string;
  readonly object: string;
  readonly endpoint: string;
}

const MESSAGE_BYTES_MAX = 300;

export function refusedIn(
  statusCode: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  text: string,
): Refused {
  const region = headers['x-amz-bucket-region'] ?? textIn(text, 'Region');
  const said = textIn(text, 'Message') ?? text.trim();
  return {
    statusCode,
    code: cut(textIn(text, 'Code') ?? '', 64),
    message: cut(said.replaceAll(/\p{Cc}+/gu, ' '), MESSAGE_BYTES_MAX),
    region: typeof region === 'string' ? cut(region, 64) : undefined,
  };
}

const ADVICE: Readonly<Record<string, string>> = {
  NoSuchBucket: 'Make the bucket, or name another one.',
  AccessDenied: 'Let these credentials do it: docs/etcd-backup.md has the rights that are needed.',
  SignatureDoesNotMatch: 'See that the secret key is the one of the key id.',
  InvalidAccessKeyId: 'See that the key id is one that this storage knows.',
  ExpiredToken: 'Give credentials that have not ended.',
  InvalidToken: 'Give a session token that belongs to the keys.',
  AuthorizationHeaderMalformed: 'Name the region of the bucket with --s3-region.',
  PermanentRedirect: 'Name the region of the bucket with --s3-region.',
  RequestTimeTooSkewed: 'Set the clock of this machine right.',
  InvalidBucketName: 'Name a bucket by a name that S3 takes.',
  NoSuchUpload: 'Somebody aborted the upload, or a lifecycle rule did: begin again.',
  NotImplemented: 'This storage lacks what a backup needs: take another one.',
};

export function failureFromRefused({ what, object, endpoint }: About, refused: Refused): S3Failure {
  const { statusCode, code, message, region } = refused;
  const said = [code, message].filter((each) => each !== '').join(': ');
  // Some end in a full stop, and others do not.
  const shown = (said === '' ? `${statusCode}` : `${statusCode} ${said}`).replace(/\.+$/, '');
  const where = region === undefined ? '' : ` Its region is ${region}.`;
  const next = ADVICE[code] ?? adviceFor(statusCode);
  const text = `${what} failed: ${endpoint} answered ${shown}.${where} ${next}`;
  return new S3Failure(codeFor(refused), text, object, { refused });
}

function codeFor({ statusCode, code }: Refused): ErrorCode {
  if (DAMAGED.has(code)) return 'S3_CHECKSUM';
  if (code === 'NoSuchUpload') return 'S3_CONFLICT';
  // Some answer with 404 to whom they do not know.
  if (statusCode === 404 && !ABSENT.has(code)) return 'S3_REFUSED';
  if (statusCode === 404) return 'S3_NOT_FOUND';
  if (statusCode === 409 || statusCode === 412) return 'S3_CONFLICT';
  return isPassing({ statusCode, code }) ? 'S3_UNAVAILABLE' : 'S3_REFUSED';
}

function adviceFor(statusCode: number): string {
  if (statusCode === 301 || statusCode === 307) return ADVICE['PermanentRedirect'] ?? '';
  if (statusCode === 403) return ADVICE['AccessDenied'] ?? '';
  if (statusCode === 404) return 'See that bucket and key are the right ones.';
  if (statusCode === 412) return 'Another writer was first: name another key.';
  if (statusCode >= 500 || statusCode === 429) return 'Try again later.';
  return 'See what the storage asks for.';
}

/** The way between changed the bytes: other ones arrived than were signed. */
const DAMAGED = new Set(['BadDigest', 'XAmzContentSHA256Mismatch', 'XAmzContentChecksumMismatch']);
/** The answer to a HEAD has no word. */
const ABSENT = new Set(['', 'NoSuchBucket', 'NoSuchKey']);
const PASSING = new Set(['RequestTimeout', 'SlowDown', 'InternalError', 'OperationAborted']);

/** Whether the same request may succeed a moment later. */
export function isPassing({ statusCode, code }: Pick<Refused, 'statusCode' | 'code'>): boolean {
  if (code === 'NotImplemented') return false;
  return statusCode >= 500 || statusCode === 429 || PASSING.has(code) || DAMAGED.has(code);
}

export function failureFromTransport(about: About, cause: unknown): S3Failure {
  const { what, object, endpoint } = about;
  const why = `${what} failed: ${endpoint} cannot be reached, or broke off (${reasonOf(cause)})`;
  const next = 'See that it runs, and that its address and its authority are the right ones.';
  return new S3Failure('S3_UNAVAILABLE', `${why}. ${next}`, object, { cause });
}

export function failureFromOdd({ what, object, endpoint }: About, why: string): S3Failure {
  const message = `${what} failed: what ${endpoint} answers is not S3's (${why}).`;
  return new S3Failure('S3_UNAVAILABLE', `${message} See what listens there.`, object);
}

/** undici's errors may hold nothing but a code. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  if (!(error instanceof Error)) return String(error);
  if (error.message !== '') return error.message;
  return 'code' in error ? String(error.code) : error.name;
}

export const isS3Failure = (error: unknown, ...codes: readonly ErrorCode[]): error is S3Failure =>
  error instanceof S3Failure && (codes.length === 0 || codes.includes(error.code));
