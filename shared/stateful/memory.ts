// The memory of objects between two reconciles, which saves reads and may be lost at any time. All
// of it together stays within one bound, whatever others write into what is read.
import { serialize } from 'node:v8';
import type { Kept, KeptMemory } from './keeping.ts';
import type { SecretData } from './certificates/secret-data.ts';

/** Kept for one object. */
export interface Weighed {
  /** The size of what was read for it; absent when nothing is kept of that. */
  bytes?: number;
}

/** From the last reconcile that read all parts, for this generation of the spec. */
export interface Remembered<Parts> {
  readonly value: Parts;
  readonly generation: number;
  readonly atMs: number;
}

/** Kept for one object with servers, whose parts are not read by each observation. */
export interface ServersMemory<Parts> extends KeptMemory, Weighed {
  parts?: Remembered<Parts>;
  /** Content of Secrets that have no copy elsewhere, as last read. */
  readonly kept: Map<string, SecretData>;
  /** When each server last answered. */
  readonly contactMs: Map<string, number>;
}

export const newServersMemory = <Parts>(): ServersMemory<Parts> => ({
  kept: new Map(),
  attempts: new Map(),
  contactMs: new Map(),
});

/**
 * Some changes send no event, such as a new password: the first observation after this sees them.
 */
const PARTS_FRESH_MS = 300_000;
/** While the object is not Ready, the reason may be among its parts. */
const PARTS_FRESH_IN_TROUBLE_MS = 10_000;

/** As the last look has left it. */
export const wasReady = ({ status }: Pick<Kept, 'status'>): boolean =>
  status.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';

/** The parts of an earlier reconcile, as long as they may be believed. */
export function rememberedParts<Parts>(
  { parts }: Pick<ServersMemory<Parts>, 'parts'>,
  { generation, status }: Pick<Kept, 'generation' | 'status'>,
  nowMs: number,
): Parts | undefined {
  if (parts === undefined || parts.generation !== generation) return undefined;
  const freshMs = wasReady({ status }) ? PARTS_FRESH_MS : PARTS_FRESH_IN_TROUBLE_MS;
  return nowMs - parts.atMs < freshMs ? parts.value : undefined;
}

/**
 * Others may write a megabyte into what parts are made of. The largest are read anew by each
 * observation, so that whoever writes much costs nobody else anything; a usual cluster takes 20 KB.
 */
const REMEMBERED_BYTES_MAX = 24 * 2 ** 20;

const sizeOf = ({ bytes = 0 }: Weighed): number => bytes;

export interface MemoriesOptions<Memory> {
  readonly make: () => Memory;
  /** Drops everything that was weighed. */
  readonly forget: (memory: Memory) => void;
}

export class Memories<Memory extends Weighed> {
  readonly #options: MemoriesOptions<Memory>;
  readonly #memories = new Map<string, Memory>();

  constructor(options: MemoriesOptions<Memory>) {
    this.#options = options;
  }

  /** The memory of the object with this uid. */
  of(uid: string): Memory {
    const known = this.#memories.get(uid);
    if (known !== undefined) return known;
    const memory = this.#options.make();
    this.#memories.set(uid, memory);
    return memory;
  }

  /** Weighs what was read of an object, and forgets the largest when all together is too much. */
  weigh(uid: string, content: unknown): void {
    this.of(uid).bytes = serialize(content).byteLength;
    const all = [...this.#memories.values()].toSorted((a, b) => sizeOf(b) - sizeOf(a));
    let bytes = all.reduce((sum, one) => sum + sizeOf(one), 0);
    for (const largest of all) {
      if (bytes <= REMEMBERED_BYTES_MAX) return;
      bytes -= sizeOf(largest);
      this.#options.forget(largest);
      delete largest.bytes;
    }
  }

  /** Frees the memory of objects that are gone. */
  keepOnly(uids: ReadonlySet<string>): void {
    for (const uid of this.#memories.keys()) if (!uids.has(uid)) this.#memories.delete(uid);
  }
}
