// Writes the snapshot that a member streams into a file beside its final name, holds it against the
// sha256 that etcd sends last, and moves it there whole. The file is what `etcdctl snapshot save`
// writes.
import { open, rename, rm } from 'node:fs/promises';
import { Failure } from '../errors.ts';
import { blobsOf } from './blobs.ts';
import { reasonOf } from './errors.ts';
import { TrailedHash } from './trailed-hash.ts';
import type { Reply } from './transport.ts';

export interface SaveOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

export interface Saved {
  readonly sizeBytes: number;
  readonly sha256: string;
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
    const hash = new TrailedHash();
    for await (const { blob, leftBytes } of blobsOf(endpoint, body)) {
      hash.update(blob);
      await file.write(blob);
      onBlob(hash.sizeBytes, leftBytes);
    }
    const { sizeBytes } = hash;
    const sha256 = hash.checked();
    await file.sync();
    return { sizeBytes, sha256 };
  } finally {
    await file.close();
  }
}
