// A backup as a file, on a claim or a mounted directory: written under another name, and given its
// own when it was checked. A file that is there is never overwritten.
import { rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { factsNameOf } from '../../shared/api/etcd-backup.ts';
import { Failure } from '../../shared/errors.ts';
import { assertRoom, Spool, unwritable } from '../../shared/spool.ts';
import { type Facts, textOfFacts } from './facts.ts';
import { earlierAt, readFacts } from './file-earlier.ts';
import { moveNew, nameNew, syncDirectory } from './file-names.ts';
import type { Mark } from './mark.ts';
import type { StreamPart } from './part-queue.ts';
import type { Target } from './target.ts';

const PART_BYTES = 1024 * 1024;

export class FileTarget implements Target {
  readonly name: string;
  readonly partBytes = PART_BYTES;
  readonly isSpoolHeld = false;
  // The next one fills while one is written.
  readonly partsAtOnce = 2;
  readonly #mark: Mark;
  /** The same for all attempts at one backup, so that one of them is left at most. */
  readonly #unfinished: string;
  #spool: Spool | undefined;

  constructor(path: string, mark: Mark) {
    this.name = path;
    this.#mark = mark;
    const { writer } = mark;
    this.#unfinished = `${path}${writer === undefined ? '' : `.${writer}`}.unfinished`;
  }

  get spool(): Spool {
    if (this.#spool === undefined) throw new Error('nothing has begun');
    return this.#spool;
  }

  earlier(signal: AbortSignal): Promise<Facts | undefined> {
    const [path, unfinished, mark] = [this.name, this.#unfinished, this.#mark];
    return earlierAt({ path, unfinished, mark }, signal);
  }

  async begin(dbSizeBytes: number): Promise<void> {
    await assertRoom(dirname(this.name), dbSizeBytes);
    this.#spool = await Spool.at(this.#unfinished);
  }

  async send({ bytes, offset }: StreamPart): Promise<void> {
    await this.spool.write(bytes, offset);
  }

  async finish(facts: Facts): Promise<Facts> {
    await this.spool.sync();
    if (!(await this.spool.isThere())) throw this.#twoAtOnce();
    await nameNew(this.#unfinished, this.name);
    if (!(await this.spool.isAt(this.name))) {
      // Another run took the first name in this moment, and its file is not whole yet.
      await rm(this.name, { force: true });
      throw this.#twoAtOnce();
    }
    try {
      await this.#writeFacts(facts);
      // Another attempt may have taken it back before it had facts.
      if (!(await this.spool.isAt(this.name))) throw this.#twoAtOnce();
      await syncDirectory(dirname(this.name));
    } catch (error) {
      await this.#takeBack();
      throw error instanceof Failure ? error : unwritable(this.name, error);
    }
    // It is finished, and has its own name: what cannot be removed is another name of it.
    await rm(this.#unfinished, { force: true }).catch(() => undefined);
    return facts;
  }

  async abort(): Promise<void> {
    if (this.#spool === undefined || !(await this.#spool.isThere())) return;
    await rm(this.#unfinished, { force: true });
  }

  async close(): Promise<void> {
    await this.#spool?.close();
  }

  /** Whole under another name first: a file that is cut off would be nobody's. */
  async #writeFacts(facts: Facts): Promise<void> {
    const beside = factsNameOf(this.name);
    const whole = factsNameOf(this.#unfinished);
    const stale = await readFacts(beside, this.#mark);
    // Beside a backup of ours those of another attempt are about one that was taken back.
    if (stale?.isSealed === true) await rm(beside, { force: true });
    const text = textOfFacts(facts, this.#mark);
    try {
      await rm(whole, { force: true });
      await writeFile(whole, text, { flag: 'wx', mode: 0o600, flush: true });
      await moveNew(whole, beside);
    } catch (error) {
      await rm(whole, { force: true });
      throw error instanceof Failure ? error : unwritable(beside, error);
    }
  }

  /** Nothing of another run is removed. */
  async #takeBack(): Promise<void> {
    const beside = factsNameOf(this.name);
    const told = await readFacts(beside, this.#mark).catch(() => undefined);
    if (told?.writer === this.#mark.run) await rm(beside, { force: true });
    if (await this.spool.isAt(this.name)) await rm(this.name, { force: true });
  }

  #twoAtOnce(): Failure {
    const message = `Another run writes to ${this.#unfinished}. Let each have a name of its own.`;
    return new Failure('DISK_UNWRITABLE', message, { object: this.#unfinished });
  }
}
