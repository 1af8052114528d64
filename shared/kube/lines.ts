// Splits a stream of bytes into its lines, one at a time: a line is complete or it is not given
// out, and nothing is read ahead of the reader.
import type { Skim } from './skim.ts';

/** etcd takes objects up to 1.5 MB; their JSON with escapes, in an event, stays far below this. */
export const LINE_BYTES_MAX = 16 * 1024 * 1024;

const NEWLINE = 0x0a;

/** For readers who want all of each line. */
export const refuseAbove = (bytesMax: number) => (): never => {
  throw new Error(`a line has more than ${bytesMax} bytes`);
};

/** Text after the last newline is dropped: it is the beginning of a line that was cut off. */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax = LINE_BYTES_MAX,
): AsyncGenerator<string, void, undefined> {
  for await (const line of splitOrSkim(chunks, bytesMax, refuseAbove(bytesMax))) {
    if (typeof line === 'string') yield line;
  }
}

/** A line that is too long is not kept: it is given to a skim while it passes by. */
export const splitOrSkim = (
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
  makeSkim: () => Skim,
): AsyncGenerator<string | Skim, void, undefined> =>
  readLines(chunks, { bytesMax, makeSkim, read: (line) => line });

export interface LineReader<Result> {
  readonly bytesMax: number;
  readonly makeSkim: () => Skim;
  /** Reads a line at once, so that only the result waits until somebody wants the next. */
  readonly read: (line: string | Skim) => Result;
}

export async function* readLines<Result>(
  chunks: AsyncIterable<Uint8Array>,
  { bytesMax, makeSkim, read }: LineReader<Result>,
): AsyncGenerator<Result, void, undefined> {
  const line = new Line(bytesMax, makeSkim);
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      line.add(chunk.subarray(start, end));
      start = end + 1;
      if (line.isEmpty) continue;
      yield line.take(read);
    }
    if (start < chunk.length) line.add(chunk.subarray(start));
  }
}

/** The line that has begun. */
class Line {
  readonly #bytesMax: number;
  readonly #makeSkim: () => Skim;
  // A chunk may end inside a character, so bytes are gathered and only whole lines decoded.
  #begun: Uint8Array[] = [];
  #bytes = 0;
  #skim: Skim | undefined;

  constructor(bytesMax: number, makeSkim: () => Skim) {
    this.#bytesMax = bytesMax;
    this.#makeSkim = makeSkim;
  }

  add(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#skim === undefined && this.#bytes > this.#bytesMax) {
      this.#skim = this.#makeSkim();
      for (const before of this.#begun) this.#skim.feed(before);
      this.#begun = [];
    }
    if (this.#skim === undefined) this.#begun.push(part);
    else this.#skim.feed(part);
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  /** A generator would keep the text of the line while it waits; this ends before. */
  take<Result>(read: (line: string | Skim) => Result): Result {
    const whole = this.#skim ?? Buffer.concat(this.#begun).toString('utf8');
    this.#begun = [];
    this.#bytes = 0;
    this.#skim = undefined;
    return read(whole);
  }
}
