// A few publishes at a time go out one by one, which costs a server the least. When more of them
// come than that, they gather and go out together, and a server that syncs before it acknowledges
// syncs once for all of them. Each unit lands whole or not at all, and fails for itself.
import { orAbort } from '../or-abort.ts';

export interface Publication {
  readonly subject: string;
  readonly data: Uint8Array;
  /** The newest sequence on the subject as the writer saw it; 0 for none. */
  readonly expectedSequence: number;
  /** The server drops the message after this time. */
  readonly ttlSeconds?: number;
}

/** Sends these as one, and answers the sequence of the first. */
export type Send = (messages: readonly Publication[], signal: AbortSignal) => Promise<number>;

interface Unit {
  readonly messages: readonly Publication[];
  readonly signal: AbortSignal;
  readonly done: PromiseWithResolvers<number>;
}

/** JetStream takes up to 1,000 in one batch; half of it leaves a batch of 1 kB messages small. */
const GROUP_MESSAGES_MAX = 500;
const GROUP_BYTES_MAX = 4_000_000;
/** As many are on their way singly before the others gather. */
const ALONE_MAX = 16;
/** Fewer are cheaper one by one: a batch is stored twice, once while it is not complete. */
const GROUP_UNITS_MIN = 16;
/** One is written while the next ones come over the wire. */
const GROUPS_MAX = 2;
const GROUP_TIMEOUT_MS = 10_000;

export class GroupCommit {
  readonly #send: Send;
  readonly #isConflict: (error: unknown) => boolean;
  #waiting: Unit[] = [];
  #alone = 0;
  #groups = 0;
  #isGathering = false;

  constructor(send: Send, isConflict: (error: unknown) => boolean) {
    this.#send = send;
    this.#isConflict = isConflict;
  }

  publish(messages: readonly Publication[], signal: AbortSignal): Promise<number> {
    const unit = { messages, signal, done: Promise.withResolvers<number>() };
    this.#waiting.push(unit);
    this.#next();
    return orAbort(unit.done.promise, signal);
  }

  /** As soon as units gather, nobody goes alone any more: each that does costs one more sync. */
  #next(): void {
    // Several messages are a batch in any case, which costs the server as much as hundreds.
    const needsBatch = this.#waiting.some(({ messages }) => messages.length > 1);
    if (needsBatch || this.#waiting.length >= GROUP_UNITS_MIN) {
      this.#gather();
      return;
    }
    while (this.#waiting.length > 0 && this.#alone < ALONE_MAX && this.#groups === 0) {
      const unit = this.#waiting.shift();
      if (unit !== undefined) void this.#sendAlone(unit);
    }
  }

  /**
   * Callers that waited for the former group are about to come again: the next group takes them in.
   */
  #gather(): void {
    if (this.#isGathering || this.#groups === GROUPS_MAX) return;
    this.#isGathering = true;
    setImmediate(() => {
      this.#isGathering = false;
      void this.#sendGroup();
    });
  }

  /**
   * The oldest units that fit together; no subject twice, since its second condition would fail.
   */
  #takeGroup(): readonly Unit[] {
    const group: Unit[] = [];
    const rest: Unit[] = [];
    const subjects = new Set<string>();
    let messages = 0;
    let bytes = 0;
    for (const unit of this.#waiting) {
      if (unit.signal.aborted) {
        unit.done.reject(unit.signal.reason);
        continue;
      }
      const size = unit.messages.reduce((sum, { data }) => sum + data.length, 0);
      const fits =
        messages + unit.messages.length <= GROUP_MESSAGES_MAX && bytes + size <= GROUP_BYTES_MAX;
      const isApart = unit.messages.every(({ subject }) => !subjects.has(subject));
      if (group.length > 0 && !(fits && isApart)) {
        rest.push(unit);
        continue;
      }
      group.push(unit);
      for (const { subject } of unit.messages) subjects.add(subject);
      messages += unit.messages.length;
      bytes += size;
    }
    this.#waiting = rest;
    return group;
  }

  async #sendGroup(): Promise<void> {
    const group = this.#takeGroup();
    this.#groups += 1;
    try {
      // Not the signal of one of them: the others still wait.
      const signal = AbortSignal.timeout(GROUP_TIMEOUT_MS);
      const messages = group.flatMap((unit) => unit.messages);
      let sequence = messages.length === 0 ? 0 : await this.#send(messages, signal);
      for (const unit of group) {
        unit.done.resolve(sequence);
        sequence += unit.messages.length;
      }
    } catch (error) {
      // One of them lost its compare-and-set; the others must not pay for it.
      const isShared = group.length > 1;
      if (isShared && this.#isConflict(error))
        await Promise.all(group.map((unit) => this.#sendAlone(unit)));
      else for (const { done } of group) done.reject(error);
    }
    this.#groups -= 1;
    this.#next();
  }

  async #sendAlone({ messages, signal, done }: Unit): Promise<void> {
    this.#alone += 1;
    try {
      signal.throwIfAborted();
      done.resolve(await this.#send(messages, signal));
    } catch (error) {
      done.reject(error);
    }
    this.#alone -= 1;
    this.#next();
  }
}
