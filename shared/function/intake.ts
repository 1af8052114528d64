// Requests whose bodies are on their way in, before they take a place among those that are worked
// on: bounded in number, in time, and in bytes together with the bodies that are worked on. Where
// there is no room, who dawdles makes it: never one whose body comes in one go.
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../clock.ts';
import { Failure } from '../errors.ts';
import { type BodyLimit, eachChunk, tooLarge } from './body.ts';
import { Deadlines } from './deadlines.ts';
import type { Guest } from './gate.ts';
import { BUSY_RETRY_AFTER_MS, REQUEST_TIMEOUT_MS } from './runtime-config.ts';

interface Arrival {
  chunks: Buffer[];
  bodyBytes: number;
  /** With what the body became. */
  heldBytes: number;
}

export interface IntakeLimits {
  /** Of bodies on their way. */
  readonly countMax: number;
  /** Of all bodies: on their way, and worked on. */
  readonly heldBytesMax: number;
}

const EMPTY = Buffer.alloc(0);

export class Intake {
  readonly #limits: IntakeLimits;
  readonly #arrivals = new Map<Guest, Arrival>();
  /** Of those whose body is not there yet. */
  readonly #arriving: Deadlines<Guest>;
  #heldBytes = 0;

  constructor(clock: Clock, limits: IntakeLimits) {
    this.#limits = limits;
    this.#arriving = new Deadlines(clock, REQUEST_TIMEOUT_MS, (guest) =>
      this.#dismiss(guest, tooSlow(`did not arrive within ${REQUEST_TIMEOUT_MS / 1_000} s`)),
    );
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Whoever comes in must `leave`. */
  enter(guest: Guest): void {
    if (this.#arriving.size >= this.#limits.countMax) {
      const [eldest] = this.#arriving.items();
      if (eldest !== undefined) this.#dismiss(eldest, tooSlow('came slower than all others'));
    }
    this.#arrivals.set(guest, { chunks: [], bodyBytes: 0, heldBytes: 0 });
    this.#arriving.add(guest);
  }

  /** Its bytes count until it leaves. Empty for a guest that was dismissed meanwhile. */
  async read(guest: Guest, request: IncomingMessage, limit: BodyLimit): Promise<Buffer> {
    await eachChunk(request, (chunk) => this.#take(guest, chunk, limit));
    this.#arriving.delete(guest);
    const arrival = this.#arrivals.get(guest);
    if (arrival === undefined) return EMPTY;
    const { chunks } = arrival;
    arrival.chunks = [];
    return chunks.length > 1 ? Buffer.concat(chunks) : (chunks[0] ?? EMPTY);
  }

  /** What the body becomes in memory counts as well, until its guest leaves. */
  weigh(guest: Guest, sizeBytes: number): void {
    const { heldBytesMax } = this.#limits;
    if (sizeBytes > heldBytesMax) throw tooManyValues();
    if (this.#heldBytes + sizeBytes > heldBytesMax) throw full(heldBytesMax);
    const arrival = this.#arrivals.get(guest);
    if (arrival === undefined) return;
    arrival.heldBytes += sizeBytes;
    this.#heldBytes += sizeBytes;
  }

  leave(guest: Guest): void {
    this.#arriving.delete(guest);
    const arrival = this.#arrivals.get(guest);
    if (arrival === undefined) return;
    this.#arrivals.delete(guest);
    this.#heldBytes -= arrival.heldBytes;
    arrival.chunks = [];
  }

  /** At the end of the process: everybody whose body is not there yet. */
  dismissAll(reason: Failure): void {
    for (const guest of this.#arriving.items()) this.#dismiss(guest, reason);
    this.#arriving.end();
  }

  #take(guest: Guest, chunk: Buffer, limit: BodyLimit): void {
    const arrival = this.#arrivals.get(guest);
    // Dismissed: it has its answer, and the rest is dropped.
    if (arrival === undefined) return;
    const { sizeBytesMax } = limit;
    if (arrival.bodyBytes + chunk.length > sizeBytesMax) throw tooLarge(limit);
    append(arrival.chunks, chunk);
    arrival.bodyBytes += chunk.length;
    arrival.heldBytes += chunk.length;
    this.#heldBytes += chunk.length;
    while (this.#heldBytes > this.#limits.heldBytesMax) this.#makeRoom(guest);
  }

  /** Whose body is the largest of those on their way; whoever asks is one of them. */
  #makeRoom(asking: Guest): void {
    let largest = asking;
    for (const guest of this.#arriving.items()) {
      if (this.#sizeOf(guest) > this.#sizeOf(largest)) largest = guest;
    }
    this.#dismiss(largest, full(this.#limits.heldBytesMax));
  }

  #sizeOf(guest: Guest): number {
    return this.#arrivals.get(guest)?.heldBytes ?? 0;
  }

  #dismiss(guest: Guest, reason: Failure): void {
    this.leave(guest);
    guest.expire(reason);
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
