// A backup that arrives from where it is stored, on its way to the disk of this machine: one that
// is sealed is opened, and without a key it is told.
import { open } from 'node:fs/promises';
import type { Spool } from '../spool.ts';
import { HEADER_BYTES, isSealed, keyIdIn } from './chunks.ts';
import type { SealKey } from './key.ts';
import { Opener } from './open.ts';
import { keyLacks } from './refusals.ts';

export class Arrival {
  readonly #name: string;
  readonly #spool: Pick<Spool, 'write'>;
  readonly #opener: Opener | undefined;
  #first: Buffer = Buffer.alloc(0);
  #writtenBytes = 0;

  constructor(name: string, spool: Pick<Spool, 'write'>, key: SealKey | undefined) {
    this.#name = name;
    this.#spool = spool;
    this.#opener = key && new Opener(name, key);
  }

  /** In their order. */
  async write(bytes: Buffer): Promise<void> {
    const plain = this.#opener?.update(bytes) ?? [this.#unsealed(bytes)];
    for (const one of plain) await this.#keep(one);
  }

  /** Fails when it was not all of it. */
  async end(): Promise<void> {
    if (this.#opener !== undefined) await this.#keep(this.#opener.end());
  }

  async #keep(plain: Buffer): Promise<void> {
    await this.#spool.write(plain, this.#writtenBytes);
    this.#writtenBytes += plain.length;
  }

  #unsealed(bytes: Buffer): Buffer {
    if (this.#first.length === HEADER_BYTES) return bytes;
    this.#first = Buffer.concat([this.#first, bytes]).subarray(0, HEADER_BYTES);
    const isWhole = this.#first.length === HEADER_BYTES;
    if (isWhole && isSealed(this.#first)) throw keyLacks(this.#name, keyIdIn(this.#first));
    return bytes;
  }
}

/** For whoever reads a file where it lies. */
export async function assertNotSealed(path: string): Promise<void> {
  // Its reader says why one cannot be read.
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    if (bytesRead === HEADER_BYTES && isSealed(buffer)) throw keyLacks(path, keyIdIn(buffer));
  } finally {
    await file.close();
  }
}
