// Writes the snapshot that a member streams into a file beside its final name, holds it against the
// sha256 that etcd sends last, and moves it there whole. The file is what `etcdctl snapshot save`
// writes.
import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { Failure } from '../errors.ts';
import { brokenAnswer, failureFromAnswer, reasonOf } from './errors.ts';
import type { Reply } from './transport.ts';

export interface SaveOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

export interface Saved {
  readonly sizeBytes: number;
  readonly sha256: string;
}

const HASH_BYTES = 32;
/** etcd sends 32 KiB in a message; a line that is longer is not one of its. */
const LINE_BYTES_MAX = 8 * 1024 * 1024;

interface Message {
  readonly result?: { readonly blob?: string; readonly remaining_bytes?: string };
  readonly error?: { readonly message?: string };
}

export async function saveSnapshot(
  reply: Reply,
  path: string,
  { signal, onProgress }: SaveOptions,
): Promise<Saved> {
  const unfinished = `${path}.unfinished`;
  try {
    const saved = await writeAll(reply, unfinished, (done, left) => {
      signal?.throwIfAborted();
      onProgress?.(done, done + left);
    });
    await rename(unfinished, path);
    return saved;
  } catch (error) {
    await rm(unfinished, { force: true });
    reply.body.destroy();
    signal?.throwIfAborted();
    if (error instanceof Failure) throw error;
    const why = `The snapshot from ${reply.endpoint} was not saved to ${path}`;
    const message = `${why} (${reasonOf(error)}). Save it again.`;
    throw new Failure('ETCD_SNAPSHOT_BROKEN', message, { object: path, cause: error });
  }
}

async function writeAll(
  { endpoint, body }: Reply,
  path: string,
  onBlob: (doneBytes: number, leftBytes: number) => void,
): Promise<Saved> {
  const file = await open(path, 'w', 0o600);
  try {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    // The last 32 bytes of the stream are the hash of all before.
    let tail: Buffer = Buffer.alloc(0);
    for await (const { blob, leftBytes } of blobsOf(endpoint, body)) {
      const bytes = Buffer.concat([tail, blob]);
      const known = Math.max(0, bytes.length - HASH_BYTES);
      hash.update(bytes.subarray(0, known));
      tail = Buffer.from(bytes.subarray(known));
      await file.write(blob);
      sizeBytes += blob.length;
      onBlob(sizeBytes, leftBytes);
    }
    const sha256 = hash.digest('hex');
    if (sizeBytes <= HASH_BYTES || sha256 !== tail.toString('hex')) {
      throw new Error(`its ${sizeBytes} bytes do not match the hash that etcd sent with them`);
    }
    await file.sync();
    return { sizeBytes, sha256 };
  } finally {
    await file.close();
  }
}

async function* blobsOf(
  endpoint: string,
  body: AsyncIterable<Buffer>,
): AsyncGenerator<{ readonly blob: Buffer; readonly leftBytes: number }> {
  for await (const line of linesOf(endpoint, body)) {
    const { result, error }: Message = JSON.parse(line);
    if (error !== undefined) {
      const text = JSON.stringify(error);
      const path = '/v3/maintenance/snapshot';
      throw failureFromAnswer({ endpoint, path, statusCode: 200, text });
    }
    const blob = Buffer.from(result?.blob ?? '', 'base64');
    yield { blob, leftBytes: Number(result?.remaining_bytes ?? 0) };
  }
}

async function* linesOf(endpoint: string, body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of body) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, end)]).toString('utf8');
      rest = [];
      restBytes = 0;
      from = end + 1;
    }
    rest.push(chunk.subarray(from));
    restBytes += chunk.length - from;
    if (restBytes > LINE_BYTES_MAX) throw brokenAnswer(endpoint, 'a line without end');
  }
  const last = Buffer.concat(rest).toString('utf8').trim();
  if (last !== '') yield last;
}
