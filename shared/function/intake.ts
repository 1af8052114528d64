// Requests whose bodies are still arriving, before admission: bounded in number, in time, and in
// bytes together with the bodies of admitted requests. When there is no room, the slowest or the
// largest arriving body is refused, never one that arrives in one go.
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../clock.ts';
import { Failure } from '../errors.ts';
import { type BodyLimit, eachChunk, tooLarge } from './body.ts';
import { Deadlines } from './deadlines.ts';
import type { Admitted } from './admission.ts';
import { BUSY_RETRY_AFTER_MS, REQUEST_TIMEOUT_MS } from './runtime-config.ts';

interface Arrival {
  chunks: Buffer[];
  bodyBytes: number;
  /** With what the body became. */
  heldBytes: number;
}

export interface IntakeLimits {
  /** Counts arriving bodies. */
  readonly countMax: number;
  /** Counts all bodies: arriving ones and those of admitted requests. */
  readonly heldBytesMax: number;
}

const EMPTY = Buffer.alloc(0);

export class Intake {
  readonly #limits: IntakeLimits;
  readonly #arrivals = new Map<Admitted, Arrival>();
  /** Holds only requests whose body is not complete. */
  readonly #arriving: Deadlines<Admitted>;
  #heldBytes = 0;

  constructor(clock: Clock, limits: IntakeLimits) {
    this.#limits = limits;
    this.#arriving = new Deadlines(clock, REQUEST_TIMEOUT_MS, (owner) =>
      this.#dismiss(owner, tooSlow(`did not arrive within ${REQUEST_TIMEOUT_MS / 1_000} s`)),
    );
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Every request that enters must `leave`. */
  enter(owner: Admitted): void {
    if (this.#arriving.size >= this.#limits.countMax) {
      const [eldest] = this.#arriving.items();
      if (eldest !== undefined) this.#dismiss(eldest, tooSlow('came slower than all others'));
    }
    this.#arrivals.set(owner, { chunks: [], bodyBytes: 0, heldBytes: 0 });
    this.#arriving.add(owner);
  }

  /** Its bytes count until it leaves. Empty for a request that was dismissed meanwhile. */
  async read(owner: Admitted, request: IncomingMessage, limit: BodyLimit): Promise<Buffer> {
    await eachChunk(request, (chunk) => this.#take(owner, chunk, limit));
    this.#arriving.delete(owner);
    const arrival = this.#arrivals.get(owner);
    if (arrival === undefined) return EMPTY;
    const { chunks } = arrival;
    arrival.chunks = [];
    return chunks.length > 1 ? Buffer.concat(chunks) : (chunks[0] ?? EMPTY);
  }

  /** Adds the memory that the parsed body takes, until its owner leaves. */
  weigh(owner: Admitted, sizeBytes: number): void {
    const { heldBytesMax } = this.#limits;
    if (sizeBytes > heldBytesMax) throw tooManyValues();
    if (this.#heldBytes + sizeBytes > heldBytesMax) throw full(heldBytesMax);
    const arrival = this.#arrivals.get(owner);
    if (arrival === undefined) return;
    arrival.heldBytes += sizeBytes;
    this.#heldBytes += sizeBytes;
  }

  leave(owner: Admitted): void {
    this.#arriving.delete(owner);
    const arrival = this.#arrivals.get(owner);
    if (arrival === undefined) return;
    this.#arrivals.delete(owner);
    this.#heldBytes -= arrival.heldBytes;
    arrival.chunks = [];
  }

  /** At the end of the process: every request whose body is not complete. */
  dismissAll(reason: Failure): void {
    for (const owner of this.#arriving.items()) this.#dismiss(owner, reason);
    this.#arriving.end();
  }

  #take(owner: Admitted, chunk: Buffer, limit: BodyLimit): void {
    const arrival = this.#arrivals.get(owner);
    // Dismissed: it has its answer, and the rest is dropped.
    if (arrival === undefined) return;
    const { sizeBytesMax } = limit;
    if (arrival.bodyBytes + chunk.length > sizeBytesMax) throw tooLarge(limit);
    append(arrival.chunks, chunk);
    arrival.bodyBytes += chunk.length;
    arrival.heldBytes += chunk.length;
    this.#heldBytes += chunk.length;
    while (this.#heldBytes > this.#limits.heldBytesMax) this.#makeRoom(owner);
  }

  /** Dismisses the request with the largest arriving body, which may be the one that asks. */
  #makeRoom(asking: Admitted): void {
    let largest = asking;
    for (const owner of this.#arriving.items()) {
      if (this.#sizeOf(owner) > this.#sizeOf(largest)) largest = owner;
    }
    this.#dismiss(largest, full(this.#limits.heldBytesMax));
  }

  #sizeOf(owner: Admitted): number {
    return this.#arrivals.get(owner)?.heldBytes ?? 0;
  }

  #dismiss(owner: Admitted, reason: Failure): void {
    this.leave(owner);
    owner.expire(reason);
  }
}

/** Larger ones stay as they came. */
const PIECE_BYTES = 32 * 1024;

/** A body in pieces of a byte would be a million objects: those that are no larger become one. */
function append(chunks: Buffer[], chunk: Buffer): void {
  let piece = chunk;
  while (piece.length < PIECE_BYTES) {
    const before = chunks.at(-1);
    if (before === undefined || before.length > piece.length) break;
    chunks.pop();
    piece = Buffer.concat([before, piece]);
  }
  chunks.push(piece);
}

function full(heldBytesMax: number): Failure {
  const message = `Bodies of ${heldBytesMax} bytes are held, the most there are; send it again.`;
  return new Failure('OVERLOADED', message, { retryAfterMs: BUSY_RETRY_AFTER_MS });
}

function tooManyValues(): Failure {
  const message = 'The body has more values than fit into memory; send less.';
  return new Failure('BODY_TOO_LARGE', message, { field: 'body' });
}

function tooSlow(how: string): Failure {
  const detail = { retryAfterMs: BUSY_RETRY_AFTER_MS };
  return new Failure('REQUEST_TOO_SLOW', `The request ${how}; repeat it.`, detail);
}
