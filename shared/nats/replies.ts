// Requests whose answers come over one subscription for the life of the connection: an answer of
// one message or of many costs no subscription of its own. Nothing waits for ever.
import type { Msg, MsgHdrs, NatsConnection } from 'nats';
import { type Clock, systemClock } from '../clock.ts';

export interface Question {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly header?: MsgHdrs | undefined;
  /** Whether this message closes the answer. */
  readonly isLast: (reply: Msg) => boolean;
}

interface Waiting {
  readonly replies: Msg[];
  readonly isLast: (reply: Msg) => boolean;
  readonly done: PromiseWithResolvers<readonly Msg[]>;
  readonly askedMs: number;
}

/** No server takes this subject: the stream does not exist, or JetStream is off. */
class NoResponders extends Error {}
/** The server says nothing. */
class NoAnswer extends Error {}

const ANSWER_TIMEOUT_MS = 5_000;
/** One look at all that wait, instead of a timer for each. */
const LOOK_EVERY_MS = 500;

export class Replies {
  readonly #nats: NatsConnection;
  readonly #inbox: string;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();
  #count = 0;
  #isChecking = false;

  constructor(nats: NatsConnection, inbox: string, clock: Clock = systemClock) {
    this.#nats = nats;
    this.#inbox = inbox;
    this.#clock = clock;
    nats.subscribe(`${inbox}.*`, { callback: (_error, reply) => this.#take(reply) });
  }

  async ask(
    { subject, data, header, isLast }: Question,
    signal: AbortSignal,
  ): Promise<readonly Msg[]> {
    signal.throwIfAborted();
    this.#count += 1;
    const token = this.#count.toString(36);
    const done = Promise.withResolvers<readonly Msg[]>();
    this.#waiting.set(token, { replies: [], isLast, done, askedMs: this.#clock.nowMs() });
    if (!this.#isChecking) void this.#check();
    const onAbort = (): void => done.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const reply = `${this.#inbox}.${token}`;
      this.#nats.publish(subject, data, {
        reply,
        ...(header === undefined ? {} : { headers: header }),
      });
      return await done.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#waiting.delete(token);
    }
  }

  #take(reply: Msg): void {
    const waiting = this.#waiting.get(reply.subject.slice(this.#inbox.length + 1));
    // Given up, or answered before.
    if (waiting === undefined) return;
    if (reply.headers?.code === 503) {
      waiting.done.reject(new NoResponders('nobody answers there'));
      return;
    }
    waiting.replies.push(reply);
    if (waiting.isLast(reply)) waiting.done.resolve(waiting.replies);
  }

  async #check(): Promise<void> {
    this.#isChecking = true;
    while (this.#waiting.size > 0) {
      await this.#clock.sleep(LOOK_EVERY_MS);
      const tooOldMs = this.#clock.nowMs() - ANSWER_TIMEOUT_MS;
      for (const { askedMs, done } of this.#waiting.values()) {
        if (askedMs < tooOldMs) done.reject(new NoAnswer('no answer in time'));
      }
    }
    this.#isChecking = false;
  }
}
