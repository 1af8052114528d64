// A file on the disk of this machine into which large content streams, to be read again from any
// place. One without a name of its own is gone with the process, however that ends.
import { constants } from 'node:fs';
import { type FileHandle, open, rm, statfs } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { Failure } from './errors.ts';

/** No room on the disk, in the quota of its user, and in the limit of a process. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

export class Spool {
  /** By which it is read: of this process alone, where it has no name. */
  readonly path: string;
  /** A part of messages. */
  readonly #shown: string;
  readonly #file: FileHandle;

  private constructor(path: string, shown: string, file: FileHandle) {
    this.path = path;
    this.#shown = shown;
    this.#file = file;
  }

  static async inDirectory(dir: string): Promise<Spool> {
    const path = join(dir, `.ballast-${randomUUID()}`);
    const file = await openNew(path);
    try {
      await rm(path);
    } catch (error) {
      await file.close();
      throw unwritable(dir, error);
    }
    return new Spool(`/proc/self/fd/${file.fd}`, `a file in ${dir}`, file);
  }

  /** Takes the place of what an earlier run left there. */
  static async at(path: string): Promise<Spool> {
    await rm(path, { force: true }).catch((error: unknown) => {
      throw unwritable(path, error);
    });
    return new Spool(path, path, await openNew(path));
  }

  async write(bytes: Buffer, offset: number): Promise<void> {
    try {
      for (let done = 0; done < bytes.length;) {
        const left = bytes.length - done;
        const { bytesWritten } = await this.#file.write(bytes, done, left, offset + done);
        done += bytesWritten;
      }
    } catch (error) {
      throw unwritable(this.#shown, error, offset);
    }
  }

  /** Fills all of `bytes`. */
  async read(bytes: Buffer, offset: number): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      const left = bytes.length - done;
      const { bytesRead } = await this.#file.read(bytes, done, left, offset + done);
      if (bytesRead === 0) throw unreadable(this.#shown, offset + done);
      done += bytesRead;
    }
  }

  /** Whether the name still belongs to it. */
  isThere(): Promise<boolean> {
    return this.isAt(this.path);
  }

  /** Whether this is a name of it. */
  async isAt(path: string): Promise<boolean> {
    const named = await open(path).catch(() => undefined);
    if (named === undefined) return false;
    try {
      const [there, own] = await Promise.all([named.stat(), this.#file.stat()]);
      return there.ino === own.ino && there.dev === own.dev;
    } finally {
      await named.close();
    }
  }

  /** Whatever happens to the machine from now on, it has these bytes. */
  async sync(): Promise<void> {
    await this.#file.sync().catch((error: unknown) => {
      throw unwritable(this.#shown, error);
    });
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Fails before anything is written, when it is known that so much cannot be. */
export async function assertRoom(dir: string, sizeBytes: number): Promise<void> {
  const { bavail, blocks, bsize } = await statfs(dir).catch((error: unknown) => {
    throw unwritable(dir, error);
  });
  const freeBytes = bavail * bsize;
  // Some that lie behind a network do not tell.
  if (freeBytes >= sizeBytes || blocks === 0) return;
  const has = `has ${freeBytes} bytes free, and ${sizeBytes} are to be written`;
  const message = `The disk of ${dir} ${has}. Make room, or name a directory elsewhere.`;
  throw new Failure('DISK_FULL', message, { object: dir });
}

const NEW_FILE = constants.O_CREAT | constants.O_EXCL | constants.O_RDWR;

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, NEW_FILE, 0o600);
  } catch (error) {
    throw unwritable(dirname(path), error);
  }
}

function unreadable(object: string, offset: number): Failure {
  const message = `${object} ends at byte ${offset}, and more was written. Name a place that can.`;
  return new Failure('DISK_UNWRITABLE', message, { object });
}

export function unwritable(object: string, cause: unknown, offset = 0): Failure {
  const why = cause instanceof Error ? cause.message : String(cause);
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (FULL.has(code)) {
    const message = `There is no room for ${object} beyond byte ${offset} (${why}).`;
    const next = 'Make room, or name a directory elsewhere.';
    return new Failure('DISK_FULL', `${message} ${next}`, { object, cause });
  }
  const message = `${object} cannot be written (${why}). Name a place that can.`;
  return new Failure('DISK_UNWRITABLE', message, { object, cause });
}
