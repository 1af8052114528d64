// One page of a stream: asked for with a bound in messages and bytes, so that nobody is sent more
// than was asked for, and taken message by message as it arrives.
import type { Msg, NatsConnection } from 'nats';
import type { Clock } from '../../clock.ts';
import { Failure } from '../../errors.ts';
import { encodeJson } from '../jetstream.ts';

export interface StoredMessage {
  /** Relative to the feed's prefix. */
  readonly subject: string;
  readonly sequence: number;
  readonly data: Uint8Array;
}

export interface PageReader {
  /** How many messages match, as of the beginning. */
  readonly pending: number;
  /** Reads one page, and answers how many messages are left; 0 when that was all there is now. */
  next(take: (message: StoredMessage) => void): Promise<number>;
}

interface PageSource {
  readonly nats: NatsConnection;
  readonly clock: Clock;
  /** The subject for requests of pages. */
  readonly api: string;
  readonly inboxPrefix: string;
  /** How much of a stored subject is the feed's prefix. */
  readonly prefixLength: number;
}

/** A page of pods is half a megabyte, and taken in some ten milliseconds. */
const PAGE_MESSAGES = 1_000;
/** Beside the largest message that the server takes, which must fit into a page. */
const PAGE_BYTES_ABOVE_PAYLOAD = 65_536;
/** The server's own default. */
const MAX_PAYLOAD_BYTES = 1_048_576;
/** Without anything of a page: then it is given up. A slow line may take longer for all of it. */
const SILENCE_MAX_MS = 5_000;

export async function readPage(
  { nats, clock, api, inboxPrefix, prefixLength }: PageSource,
  take: (message: StoredMessage) => void,
  signal: AbortSignal,
): Promise<number> {
  const { createInbox } = await import('../client.ts');
  signal.throwIfAborted();
  const page = Promise.withResolvers<number>();
  const fail = (why: string): void => page.reject(unanswered(api, why));
  let received = 0;
  let left = 0;
  let heardMs = clock.nowMs();
  const inbox = createInbox(inboxPrefix);
  const replies = nats.subscribe(inbox, {
    callback: (error, message) => {
      heardMs = clock.nowMs();
      if (error !== null) return fail(error.message);
      const status = message.headers?.code ?? 0;
      if (status === NO_MESSAGES) return page.resolve(0);
      // Before the first message nobody knows how many are left: it says nothing about the end.
      if (PAGE_ENDED.has(status) && received > 0) return page.resolve(left);
      if (status !== 0) return fail(`it was answered with ${status}`);
      const { sequence, pending } = placeOf(message);
      if (!isCount(sequence) || !isCount(pending)) return fail('a message came that is of no page');
      try {
        take({ subject: message.subject.slice(prefixLength), sequence, data: message.data });
      } catch (cause) {
        return page.reject(cause);
      }
      received += 1;
      left = pending;
      if (pending === 0 || received === PAGE_MESSAGES) page.resolve(pending);
    },
  });
  const over = new AbortController();
  silence(clock, () => heardMs, AbortSignal.any([signal, over.signal])).then(
    () => fail(`nothing came for ${SILENCE_MAX_MS / 1_000} s`),
    page.reject,
  );
  const bytes = (nats.info?.max_payload ?? MAX_PAYLOAD_BYTES) + PAGE_BYTES_ABOVE_PAYLOAD;
  const query = { batch: PAGE_MESSAGES, max_bytes: bytes, no_wait: true };
  try {
    nats.publish(api, encodeJson(query), { reply: inbox });
    return await page.promise;
  } finally {
    over.abort();
    replies.unsubscribe();
  }
}

/** Ends when nothing was heard for so long. */
async function silence(clock: Clock, heardMs: () => number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const leftMs = heardMs() + SILENCE_MAX_MS - clock.nowMs();
    if (leftMs <= 0) return;
    await clock.sleep(leftMs, signal);
  }
}

const NO_MESSAGES = 404;
/** Its time is over, or the bytes are used up. */
const PAGE_ENDED: ReadonlySet<number> = new Set([408, 409]);

/**
 * `$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>.<consumer's>.<time>.<pending>`; a newer form
 * has domain and account after ACK, and one more token at the end.
 */
function placeOf({ reply = '' }: Msg): { readonly sequence: number; readonly pending: number } {
  const tokens = reply.split('.');
  const at = tokens.length > 9 ? 7 : 5;
  return { sequence: Number(tokens[at]), pending: Number(tokens[at + 3]) };
}

const isCount = (number: number): boolean => Number.isSafeInteger(number) && number >= 0;

function unanswered(api: string, why: string): Failure {
  return new Failure(
    'NATS_UNAVAILABLE',
    `${api}: a page did not come (${why}). It is tried again.`,
  );
}
