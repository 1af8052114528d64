// Reads a request's body once, up to a limit: refused by its announced length before a byte is
// read, and by counting when the sender announced nothing or lied.
import type { IncomingMessage } from 'node:http';
import { quoted } from '../cut.ts';
import { Failure } from '../errors.ts';

const EMPTY = Buffer.alloc(0);

/** The sender hung up: there is nobody to answer. */
export class CallerGone extends Error {
  constructor() {
    super('The caller closed the connection before it had an answer.');
    this.name = 'CallerGone';
  }
}

const LESS = 'send less';

/** `advice` ends the sentence of the refusal. */
export function assertAnnouncedLength(
  length: number | undefined,
  maxBytes: number,
  advice = LESS,
): void {
  if (length !== undefined && length > maxBytes) throw tooLarge(maxBytes, advice);
}

export function assertNotEncoded(contentEncoding: string | undefined): void {
  const encoding = contentEncoding?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity') return;
  const message = `The body is encoded as ${quoted(encoding)}; send it without a content-encoding.`;
  throw new Failure('CONTENT_ENCODING_UNSUPPORTED', message, { field: 'content-encoding' });
}

export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  advice = LESS,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    request.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) {
        // What is still to come flows on and is dropped, so that the answer reaches a sender that
        // writes first.
        chunks.length = 0;
        reject(tooLarge(maxBytes, advice));
      } else chunks.push(chunk);
    });
    request.on('end', () => resolve(joined(chunks)));
    request.on('error', () => reject(new CallerGone()));
    request.on('close', () => {
      // It closes after a good end too, and an error with its stack costs as much as parsing the
      // event.
      if (!request.readableEnded) reject(new CallerGone());
    });
  });
}

function joined(chunks: readonly Buffer[]): Buffer {
  if (chunks.length > 1) return Buffer.concat(chunks);
  return chunks[0] ?? EMPTY;
}

function tooLarge(maxBytes: number, advice: string): Failure {
  const message = `The body is larger than ${maxBytes} bytes, the most that is taken; ${advice}.`;
  return new Failure('BODY_TOO_LARGE', message, { field: 'content-length' });
}
