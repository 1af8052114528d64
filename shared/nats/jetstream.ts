// JetStream as requests and headers, for what the `nats` client has no names for: batched direct
// gets, message TTLs, atomic batches. Every answer is the server's or a Failure; every wait ends.
import type { Msg, MsgHdrs, NatsConnection } from 'nats';
import { cut } from '../cut.ts';
import { Failure } from '../errors.ts';
import { orAbort } from '../or-abort.ts';
import type { Question, Replies } from './replies.ts';

export interface StoredMessage {
  readonly subject: string;
  readonly sequence: number;
  /** When the server stored it, as RFC 3339 with nanoseconds. */
  readonly time: string;
  readonly data: Uint8Array;
}

export interface ApiRequest {
  readonly subject: string;
  readonly data?: Uint8Array;
  readonly header?: MsgHdrs;
}

export interface Batch {
  readonly messages: readonly StoredMessage[];
  /** How many more messages match. */
  readonly pending: number;
}

interface Refusable {
  readonly error?: ApiError;
}

interface ApiError {
  readonly code: number;
  readonly err_code: number;
  readonly description: string;
}

const REQUEST_TIMEOUT_MS = 5_000;
const NOTHING = new Uint8Array();
/** JetStream's own number for a compare-and-set that lost. */
const WRONG_LAST_SEQUENCE = 10071;
/** The same, of a server in a cluster that has another write to the subject under way. */
const WRONG_LAST_SEQUENCE_IN_FLIGHT = 10164;
const STREAM_NOT_FOUND = 10059;
const STREAM_DIFFERS = 10058;
/**
 * Refusals without a number of their own: a consumer that exceeds a new bound, and nats-server
 * 2.12.
 */
const CONSUMER_BOUNDS = /limits violates consumers|can not change MaxConsumers/;
const DESCRIPTION_BYTES_MAX = 500;

/** The answers that a caller tells apart. */
export type Refusal =
  | 'conflict'
  | 'stream-missing'
  | 'stream-differs'
  | 'consumer-bounds'
  | 'other';

export class JetStreamFailure extends Failure {
  readonly refusal: Refusal | 'unavailable';

  constructor(refusal: Refusal | 'unavailable', message: string, stream: string, cause?: unknown) {
    const code =
      refusal === 'unavailable'
        ? 'NATS_UNAVAILABLE'
        : refusal === 'conflict'
          ? 'NATS_CONFLICT'
          : 'NATS_REFUSED';
    super(code, message, { object: stream, cause });
    this.refusal = refusal;
  }
}

/** One request, one answer in JSON: the server's, or its refusal as a failure. */
export async function ask<Answer>(
  replies: Replies,
  stream: string,
  { subject, data = NOTHING, header }: ApiRequest,
  signal: AbortSignal,
): Promise<Answer> {
  const question = { subject, data, header, isLast: () => true };
  const [reply] = await answered(replies, stream, question, signal);
  return accepted(stream, subject, reply?.json<Answer & Refusable>());
}

/** The same without anything that lasts: for whoever asks once in a while. */
export async function request<Answer>(
  nats: NatsConnection,
  stream: string,
  { subject, data = NOTHING }: ApiRequest,
  signal: AbortSignal,
): Promise<Answer> {
  const answer = nats.request(subject, data, { timeout: REQUEST_TIMEOUT_MS });
  const reply = answer.catch((cause: unknown) => {
    throw unavailable(stream, `${subject} got no answer`, cause);
  });
  return accepted(stream, subject, (await orAbort(reply, signal)).json<Answer & Refusable>());
}

function accepted<Answer>(
  stream: string,
  subject: string,
  answer: (Answer & Refusable) | undefined,
): Answer {
  if (answer === undefined) throw unavailable(stream, `${subject} got an empty answer`);
  if (answer.error !== undefined) throw refused(stream, subject, answer.error);
  return answer;
}

/** One batch of stored messages, straight from the store of any server that has it. */
export async function directGet(
  replies: Replies,
  stream: string,
  query: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Batch> {
  const subject = `$JS.API.DIRECT.GET.${stream}`;
  const isLast = (reply: Msg): boolean => (reply.headers?.code ?? 0) !== 0;
  const question = { subject, data: encodeJson(query), isLast };
  return batchOf(stream, await answered(replies, stream, question, signal));
}

/** The newest message of one subject; undefined when there is none. Cheaper than a batch of one. */
export async function directGetLast(
  replies: Replies,
  stream: string,
  of: string,
  signal: AbortSignal,
): Promise<StoredMessage | undefined> {
  const subject = `$JS.API.DIRECT.GET.${stream}.${of}`;
  const question = { subject, data: NOTHING, isLast: () => true };
  const [reply] = await answered(replies, stream, question, signal);
  const status = reply?.headers?.code ?? 0;
  if (status === 404) return undefined;
  if (reply === undefined || status !== 0) throw unavailable(stream, `a read got ${status}`);
  return storedMessage(reply);
}

async function answered(
  replies: Replies,
  stream: string,
  question: Question,
  signal: AbortSignal,
): Promise<readonly Msg[]> {
  try {
    return await replies.ask(question, signal);
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw unavailable(stream, `${question.subject} got no answer`, cause);
  }
}

function batchOf(stream: string, replies: readonly Msg[]): Batch {
  const end = replies.at(-1);
  const status = end?.headers?.code ?? 0;
  const messages = replies.slice(0, -1).map(storedMessage);
  if (status === 404) return { messages, pending: 0 };
  if (end !== undefined && status === 204) return { messages, pending: pendingOf(end) };
  throw unavailable(stream, `a read was answered with ${status}`);
}

function storedMessage({ headers, data }: Msg): StoredMessage {
  return {
    subject: headers?.get('Nats-Subject') ?? '',
    sequence: Number(headers?.get('Nats-Sequence')),
    time: headers?.get('Nats-Time-Stamp') ?? '',
    data,
  };
}

function pendingOf(endOfBatch: Msg): number {
  return Number(endOfBatch.headers?.get('Nats-Num-Pending') ?? 0);
}

function unavailable(stream: string, problem: string, cause?: unknown): JetStreamFailure {
  const message = `NATS stream ${stream}: ${problem}. It is tried again.`;
  return new JetStreamFailure('unavailable', message, stream, cause);
}

function refused(stream: string, subject: string, error: ApiError): JetStreamFailure {
  const where = `NATS stream ${stream}, ${subject}`;
  switch (error.err_code) {
    case WRONG_LAST_SEQUENCE:
    case WRONG_LAST_SEQUENCE_IN_FLIGHT: {
      const message = `${where}: somebody else wrote meanwhile; look again.`;
      return new JetStreamFailure('conflict', message, stream);
    }
    default: {
      const said = cut(error.description, DESCRIPTION_BYTES_MAX);
      return new JetStreamFailure(refusalIn(error), `${where}: ${said}.`, stream);
    }
  }
}

function refusalIn({ err_code: code, description }: ApiError): Refusal {
  if (code === STREAM_NOT_FOUND) return 'stream-missing';
  if (code === STREAM_DIFFERS) return 'stream-differs';
  return CONSUMER_BOUNDS.test(description) ? 'consumer-bounds' : 'other';
}

export function encodeJson(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
