// Senders: many that flood, and one that behaves, and is to be served meanwhile.
import { type Socket, connect } from 'node:net';
import { Agent, request } from 'node:http';
import { inParallel } from '../../../knative/try/local/cluster/in-parallel.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { Victim } from './shipped.ts';

export interface FloodRequest {
  readonly method?: 'GET' | 'POST';
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export type EventAttributes = Readonly<Record<string, string>>;

export const eventHeaders = (more: EventAttributes): EventAttributes => ({
  'content-type': 'application/json',
  'ce-specversion': '1.0',
  'ce-id': crypto.randomUUID(),
  'ce-source': 'floods',
  ...more,
});

export const STRUCTURED = { 'content-type': 'application/cloudevents+json' };

const ANSWER_WITHIN_MS = 90_000;

/** How many were answered with what; 0 stands for no answer. */
export type Answers = Map<number, number>;

export class Crowd {
  readonly answers: Answers = new Map();
  readonly #victim: Victim;
  readonly #agent: Agent;
  readonly #atOnce: number;

  constructor(victim: Victim, atOnce: number) {
    this.#victim = victim;
    this.#atOnce = atOnce;
    this.#agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  }

  async send(count: number, make: (index: number) => FloodRequest): Promise<void> {
    const indexes = Array.from({ length: count }, (_, index) => index);
    await inParallel(indexes, this.#atOnce, async (index) => {
      const status = await this.#ask(make(index));
      this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #ask({ method = 'POST', path = '/', headers = {}, body = '' }: FloodRequest): Promise<number> {
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    const options = { method, path, agent: this.#agent, timeout: ANSWER_WITHIN_MS };
    return new Promise((resolve) => {
      const target = { port: this.#victim.port, host: '127.0.0.1' };
      const sent = request({ ...target, ...options, headers: { ...headers, ...length } });
      sent.on('response', (answer) => {
        answer.on('error', () => resolve(0));
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
      });
      sent.on('timeout', () => sent.destroy());
      sent.on('error', () => resolve(0));
      sent.end(body);
    });
  }
}

/** Connections that send what they are told, and read nothing unless it is said. */
export class Sockets {
  readonly #open: Socket[] = [];

  async open(port: number, count: number, isReading: boolean): Promise<readonly Socket[]> {
    const opened = Array.from({ length: count }, () => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      if (isReading) socket.resume();
      this.#open.push(socket);
      return new Promise<Socket>((resolve) => {
        socket.once('connect', () => resolve(socket)).once('close', () => resolve(socket));
      });
    });
    return Promise.all(opened);
  }

  close(): void {
    for (const socket of this.#open.splice(0)) socket.destroy();
  }
}

/** So many times, as fast as it is taken; ends with the connection. */
export function pour(socket: Socket, bytes: Buffer, times: number): Promise<void> {
  return new Promise((resolve) => {
    let left = times;
    const next = (): void => {
      left -= 1;
      if (left < 0 || socket.destroyed) resolve();
      else socket.write(bytes, next);
    };
    socket.once('close', () => resolve());
    next();
  });
}

const PAUSE_MS = 200;
const RETRY_MS = 1_000;

/** Asks one thing after the other, and comes again after a 503, as senders do. */
export class Neighbour {
  served = 0;
  slowestMs = 0;
  /** Requests without a good answer before the end. */
  unserved = 0;
  /** Answers that no sender repeats. */
  readonly refused: Answers = new Map();
  readonly #ask: () => Promise<number>;
  #isOver = false;
  #ended: Promise<void> | undefined;

  constructor(ask: () => Promise<number>) {
    this.#ask = ask;
  }

  start(): void {
    this.#ended = this.#live();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
  }

  async #live(): Promise<void> {
    while (!this.#isOver) {
      const sinceMs = systemClock.nowMs();
      const isServed = await this.#untilServed();
      this.slowestMs = Math.max(this.slowestMs, systemClock.nowMs() - sinceMs);
      if (isServed) this.served += 1;
      else this.unserved += 1;
      await systemClock.sleep(PAUSE_MS);
    }
  }

  async #untilServed(): Promise<boolean> {
    const untilMs = systemClock.nowMs() + ANSWER_WITHIN_MS;
    while (systemClock.nowMs() < untilMs) {
      const status = await this.#ask();
      if (status >= 200 && status < 300) return true;
      if (status !== 503 && status !== 0) {
        this.refused.set(status, (this.refused.get(status) ?? 0) + 1);
      }
      await systemClock.sleep(RETRY_MS);
    }
    return false;
  }
}

/** As a sender without a connection at hand. */
export async function once(victim: Victim, sent: FloodRequest): Promise<number> {
  const { method = 'POST', path = '/', headers = {}, body } = sent;
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const init = { method, headers, signal, ...(body === undefined ? {} : { body }) };
    const answer = await fetch(`${victim.url}${path}`, init);
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}
