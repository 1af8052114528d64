// Says when the disk that etcd and NATS write to runs full, before they stop taking writes: NATS
// goes on running then and complains only in its log.
import { statfs } from 'node:fs/promises';

/** etcd allocates its log in pieces of 64 MB; with less than a few of them the end is near. */
const LEAST_BYTES = 256 * 2 ** 20;

export class DiskWatch {
  readonly #dirs: readonly string[];
  readonly #print: (text: string) => void;
  readonly #freeBytes: (dir: string) => Promise<number>;
  readonly #told = new Set<string>();

  constructor(
    dirs: readonly string[],
    print: (text: string) => void,
    freeBytes: (dir: string) => Promise<number> = freeBytesOf,
  ) {
    this.#dirs = dirs;
    this.#print = print;
    this.#freeBytes = freeBytes;
  }

  /** Tells once for each time that space runs out. */
  async check(): Promise<void> {
    for (const dir of this.#dirs) {
      const free = await this.#freeBytes(dir);
      if (free >= LEAST_BYTES) this.#told.delete(dir);
      else if (!this.#told.has(dir)) {
        this.#told.add(dir);
        const left = Math.floor(free / 2 ** 20);
        this.#print(`The disk is full: ${left} MiB are left at ${dir}, where etcd and NATS write.
Free some space there, or start again with TMPDIR on another disk.`);
      }
    }
  }
}

async function freeBytesOf(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}
