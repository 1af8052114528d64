// One HTTP POST of an event. Every ending becomes an Attempt: an answer, no answer, or none in
// time.
import { Agent, type IncomingMessage, request } from 'node:http';
import { readBody } from '../../../../shared/function/body.ts';
import type { EventMessage } from './event.ts';
import { EVENT_BYTES_MAX } from './limits.ts';
import type { Attempt } from './retry.ts';

const NOTHING = { rawHeaders: [], body: Buffer.alloc(0) } as const;

export class Poster {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #closed = new AbortController();

  async post(url: string, message: EventMessage, timeoutMs: number): Promise<Attempt> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([timeout, this.#closed.signal]);
    try {
      const response = await this.#open(url, message, signal);
      const body = await readBody(response, { sizeBytesMax: EVENT_BYTES_MAX });
      return { status: response.statusCode ?? 0, rawHeaders: response.rawHeaders, body };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const problem = timeout.aborted ? `no answer within ${timeoutMs} ms` : why;
      return { status: 0, ...NOTHING, problem };
    }
  }

  /** Ends requests under way, and refuses later ones. */
  close(): void {
    this.#closed.abort(new Error('the sender ends'));
    this.#agent.destroy();
  }

  #open(url: string, message: EventMessage, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = { ...message.headers, 'content-length': message.body.length };
      request(url, { method: 'POST', agent: this.#agent, headers, signal })
        .once('response', resolve)
        .once('error', reject)
        .end(message.body);
    });
  }
}
