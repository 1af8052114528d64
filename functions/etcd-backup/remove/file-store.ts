// A backup in a file, for whoever removes it. Only the file that was looked at is deleted, by its
// number in the file system; and the facts are gone from the disk before the backup goes.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { factsNameOf } from '../../../shared/api/etcd-backup.ts';
import { Failure } from '../../../shared/errors.ts';
import { changed, type Found, type FoundFacts, type Store } from './remove.ts';

/** Ours have less than two kilobytes. */
const FACTS_BYTES_MAX = 64 * 1024;

export class FileStore implements Store {
  readonly name: string;

  constructor(path: string) {
    this.name = path;
  }

  async facts(): Promise<FoundFacts | undefined> {
    const path = factsNameOf(this.name);
    const found = await this.#find(path);
    if (found === undefined) return undefined;
    if (found.sizeBytes > FACTS_BYTES_MAX) throw changed(this.name, 'its facts have no end');
    return { ...found, text: await readFile(path, 'utf8') };
  }

  backup(): Promise<Found | undefined> {
    return this.#find(this.name);
  }

  async sha256(signal: AbortSignal): Promise<string> {
    const hash = createHash('sha256');
    await pipeline(createReadStream(this.name), hash, { signal });
    return hash.digest('hex');
  }

  async #find(path: string): Promise<Found | undefined> {
    const found = await numbered(path);
    if (found === undefined) return undefined;
    return {
      sizeBytes: found.size,
      writer: undefined,
      delete: async () => {
        const now = await numbered(path);
        if (now === undefined) return;
        const isSame = now.ino === found.ino && now.mtimeMs === found.mtimeMs;
        if (!isSame) throw changed(this.name, 'somebody has written there meanwhile');
        await orUnwritable(path, async () => {
          await rm(path);
          await syncDirectory(dirname(path));
        });
      },
    };
  }
}

function numbered(path: string) {
  return orUnwritable(path, async () => {
    try {
      return await stat(path);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  });
}

async function orUnwritable<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `${path} cannot be removed (${why}). Let it be written by this user.`;
    throw new Failure('DISK_UNWRITABLE', message, { object: path, cause });
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
