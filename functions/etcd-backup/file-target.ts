// A backup as a file, on a claim or a mounted directory: written beside its final name, and moved
// there whole when it was checked. A file that is there is never overwritten.
import { access, link, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { factsNameOf } from '../../shared/api/etcd-backup.ts';
import { Failure } from '../../shared/errors.ts';
import { assertRoom, Spool, unwritable } from '../../shared/spool.ts';
import { type Facts, textOfFacts } from './facts.ts';
import type { StreamPart } from './part-queue.ts';
import { backupExists, type Target } from './target.ts';

const PART_BYTES = 1024 * 1024;

export class FileTarget implements Target {
  readonly name: string;
  readonly partBytes = PART_BYTES;
  // The next one fills while one is written.
  readonly partsAtOnce = 2;
  readonly #unfinished: string;
  #spool: Spool | undefined;

  readonly #dbSizeBytes: number;

  constructor(path: string, dbSizeBytes: number) {
    this.name = path;
    this.#dbSizeBytes = dbSizeBytes;
    this.#unfinished = `${path}.unfinished`;
  }

  get spool(): Spool {
    if (this.#spool === undefined) throw new Error('nothing has begun');
    return this.#spool;
  }

  async begin(): Promise<void> {
    for (const path of [this.name, factsNameOf(this.name)]) {
      if (await isThere(path)) throw backupExists(path);
    }
    await assertRoom(dirname(this.name), this.#dbSizeBytes);
    this.#spool = await Spool.at(this.#unfinished);
  }

  async send({ bytes, offset }: StreamPart): Promise<void> {
    await this.spool.write(bytes, offset);
  }

  async finish(facts: Facts): Promise<void> {
    await this.spool.sync();
    if (!(await this.spool.isThere())) {
      const message = `Another run writes to ${this.#unfinished}. Let each have a name of its own.`;
      throw new Failure('DISK_UNWRITABLE', message, { object: this.#unfinished });
    }
    await moveNew(this.#unfinished, this.name);
    const beside = factsNameOf(this.name);
    try {
      await writeFile(beside, textOfFacts(facts), { flag: 'wx', mode: 0o600, flush: true });
      await syncDirectory(dirname(this.name));
    } catch (error) {
      // Ours, from a moment ago.
      await rm(this.name, { force: true });
      if (hasCode(error, 'EEXIST')) throw backupExists(beside, error);
      await rm(beside, { force: true });
      throw unwritable(beside, error);
    }
  }

  async abort(): Promise<void> {
    if (this.#spool === undefined || !(await this.#spool.isThere())) return;
    await rm(this.#unfinished, { force: true });
  }

  async close(): Promise<void> {
    await this.#spool?.close();
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw unwritable(path, error);
  }
}

/** Gives a file another name, which nobody has yet. */
async function moveNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
    await rm(from);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw backupExists(to, error);
    if (!LINKLESS.some((code) => hasCode(error, code))) throw unwritable(to, error);
    await moveOverOwn(from, to);
  }
}

/** File systems that know no second name of a file. */
const LINKLESS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/** There the name is taken first, by an empty file of ours. */
async function moveOverOwn(from: string, to: string): Promise<void> {
  try {
    await (await open(to, 'wx', 0o600)).close();
    await rename(from, to);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw backupExists(to, error);
    throw unwritable(to, error);
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

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
