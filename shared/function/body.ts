// Limits a request's body, checks it before a byte of it is read, and reads it in chunks.
import type { IncomingMessage } from 'node:http';
import { quoted } from '../cut.ts';
import { Failure } from '../errors.ts';

/**
 * An object has 1.5 MB at most in etcd; its JSON with the attributes of a structured event stays
 * below this.
 */
export const BODY_BYTES_MAX = 2 * 1024 * 1024;

/** The sender hung up: there is nobody to answer. */
export class CallerGone extends Error {
  constructor() {
    super('The caller closed the connection before it had an answer.');
    this.name = 'CallerGone';
  }
}

export interface BodyLimit {
  readonly sizeBytesMax: number;
  /** Ends the sentence of the refusal. */
  readonly advice?: string | undefined;
}

export function assertAnnouncedLength(length: number | undefined, limit: BodyLimit): void {
  if (length !== undefined && length > limit.sizeBytesMax) throw tooLarge(limit);
}

export function assertNotEncoded(contentEncoding: string | undefined): void {
  const encoding = contentEncoding?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity') return;
  const message = `The body is encoded as ${quoted(encoding)}; send it without a content-encoding.`;
  throw new Failure('CONTENT_ENCODING_UNSUPPORTED', message, { field: 'content-encoding' });
}

/**
 * Resolves with the end of the body. An error that `take` throws ends the reading; bytes that still
 * arrive are dropped, so that the answer reaches a sender that writes first and reads later.
 */
export function eachChunk(request: IncomingMessage, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let isTaken = true;
    request.on('data', (chunk: Buffer) => {
      if (!isTaken) return;
      try {
        take(chunk);
      } catch (error) {
        isTaken = false;
        reject(error);
      }
    });
    request.on('end', resolve);
    request.on('error', () => reject(new CallerGone()));
    request.on('close', () => {
      // It closes after a good end too, and an error with its stack costs as much as parsing the
      // event.
      if (!request.readableEnded) reject(new CallerGone());
    });
  });
}

export async function readBody(request: IncomingMessage, limit: BodyLimit): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  await eachChunk(request, (chunk) => {
    sizeBytes += chunk.length;
    if (sizeBytes > limit.sizeBytesMax) throw tooLarge(limit);
    chunks.push(chunk);
  });
  return Buffer.concat(chunks);
}

export function tooLarge({ sizeBytesMax, advice = 'send less' }: BodyLimit): Failure {
  const most = `${sizeBytesMax} bytes, the most that is taken`;
  const message = `The body is larger than ${most}; ${advice}.`;
  return new Failure('BODY_TOO_LARGE', message, { field: 'content-length' });
}
