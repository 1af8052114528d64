// Failures of calls to etcd: a code for people, a reason for decisions, and the answer to the one
// question that a failed change leaves: was it certainly not made, or may it have been?
import { cut } from '../../cut.ts';
import { type ErrorCode, Failure } from '../../errors.ts';
import { reasonOf } from '../errors.ts';
import { isFields } from './fields.ts';
import { NotConnected } from './gateway.ts';
import { type EtcdReason, judge, type Refused } from './reasons.ts';

interface About {
  /** The URL of the member, or of all that were asked. */
  readonly endpoint: string;
  readonly path: string;
  readonly isChange: boolean;
}

export class EtcdFailure extends Failure {
  readonly reason: EtcdReason;
  /** True for a change that may have been made all the same: look before it is tried again. */
  readonly isInDoubt: boolean;
  readonly endpoint: string;

  constructor(about: About, judged: Judgement, cause?: unknown) {
    const { reason, code, what, next } = judged;
    const isInDoubt = code === 'ETCD_IN_DOUBT';
    const where = `${about.path} at ${about.endpoint}`;
    super(code, `${what} (${where}). ${next}`, { object: about.endpoint, cause });
    this.name = 'EtcdFailure';
    this.reason = reason;
    this.isInDoubt = isInDoubt;
    this.endpoint = about.endpoint;
  }
}

export function isEtcdFailure(
  error: unknown,
  ...reasons: readonly EtcdReason[]
): error is EtcdFailure {
  return error instanceof EtcdFailure && (reasons.length === 0 || reasons.includes(error.reason));
}

interface Judgement {
  readonly reason: EtcdReason;
  readonly code: ErrorCode;
  readonly what: string;
  readonly next: string;
}

const LOOK = 'The change may have been made or not: look before trying it again.';
const SEE_IT_RUNS =
  'See that it runs, that the address is that of its clients, and that it shares CA and ' +
  'certificate with us.';
const MESSAGE_BYTES_MAX = 300;

export function failureFromRefusal(about: About, statusCode: number, text: string): EtcdFailure {
  return refusal(about, `etcd answered ${statusCode}`, readRefusal(statusCode, text));
}

/** As gRPC has it. */
export function failureFromStatus(
  about: About,
  { code, message }: { readonly code: number; readonly message: string },
): EtcdFailure {
  return refusal(about, 'etcd refused', { statusCode: 200, code, message: shown(message) });
}

function refusal(about: About, how: string, refused: Refused): EtcdFailure {
  const { reason, isInDoubt } = judge(refused);
  const what = `${how}: ${refused.message}`;
  if (isInDoubt && about.isChange) {
    return new EtcdFailure(about, { reason, code: 'ETCD_IN_DOUBT', what, next: LOOK });
  }
  return new EtcdFailure(about, { reason, what, ...adviceFor(reason, isInDoubt) });
}

function adviceFor(
  reason: EtcdReason,
  isInDoubt: boolean,
): { readonly code: ErrorCode; readonly next: string } {
  if (reason === 'COMPACTED') return { code: 'ETCD_COMPACTED', next: 'Begin again.' };
  if (reason === 'NO_GATEWAY') {
    const next =
      'Name a client URL that serves HTTP; --enable-grpc-gateway must not be false, and a server ' +
      'certificate must be good for clients, too.';
    return { code: 'ETCD_REFUSED', next };
  }
  if (isInDoubt || reason === 'NO_LEADER') {
    return { code: 'ETCD_UNAVAILABLE', next: 'It is tried again.' };
  }
  return { code: 'ETCD_REFUSED', next: 'Nothing was done.' };
}

/** From an error before there was an answer, or in the middle of it. */
export function failureFromTransport(about: About, cause: unknown): EtcdFailure {
  const why = reasonOf(cause);
  if (cause instanceof NotConnected) {
    const what = `etcd cannot be reached: ${why}`;
    const judged = { reason: 'UNREACHABLE', code: 'ETCD_UNAVAILABLE', what } as const;
    return new EtcdFailure(about, { ...judged, next: SEE_IT_RUNS }, cause);
  }
  return unanswered(about, 'NO_ANSWER', `etcd did not answer to the end: ${why}`, cause);
}

/** An answer that is not etcd's, which `why` says in a word or two. */
export const failureFromOdd = (about: About, why: string, cause?: unknown): EtcdFailure =>
  unanswered(about, 'NOT_ETCD', `The answer is not etcd's: ${why}`, cause);

function unanswered(about: About, reason: EtcdReason, what: string, cause: unknown): EtcdFailure {
  const code = about.isChange ? 'ETCD_IN_DOUBT' : 'ETCD_UNAVAILABLE';
  const next = about.isChange ? LOOK : 'See what listens there.';
  return new EtcdFailure(about, { reason, code, what, next }, cause);
}

/** None of several endpoints: with the reason of the first that said one. */
export function failureOfAll(about: About, failures: readonly EtcdFailure[]): EtcdFailure {
  const [only] = failures;
  if (only !== undefined && failures.length === 1) return only;
  const telling = failures.find(({ reason }) => reason !== 'UNREACHABLE') ?? only;
  const reason = telling?.reason ?? 'UNREACHABLE';
  const said = failures.map(({ message }) => message).join(' ');
  const what = `No member does it: ${said}`;
  const judged = { reason, code: 'ETCD_UNAVAILABLE', what, next: SEE_IT_RUNS } as const;
  return new EtcdFailure(about, judged, new AggregateError(failures));
}

const shown = (message: string): string =>
  cut(message.replaceAll(/\p{Cc}+/gu, ' ').trim(), MESSAGE_BYTES_MAX);

/** As both generations of the gateway write it; a proxy may write anything. */
function readRefusal(statusCode: number, text: string): Refused {
  try {
    const json: unknown = JSON.parse(text);
    if (isFields(json)) {
      const { code, message, error } = json;
      const said = typeof message === 'string' ? message : error;
      if (typeof said === 'string' && typeof code === 'number') {
        return { statusCode, code, message: shown(said) };
      }
    }
  } catch {
    // Not the gateway's.
  }
  return { statusCode, code: undefined, message: shown(text) };
}
