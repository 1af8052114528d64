// Histories of clients of etcd, and the question whether they are linearizable, answered by
// porcupine.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { resolvePart } from '../../knative/try/local/parts/resolve.ts';
import type { EtcdAdmin } from '../../shared/etcd/admin.ts';
import { isEtcdFailure } from '../../shared/etcd/admin/failure.ts';

export interface Operation {
  readonly client: number;
  readonly op: 'put' | 'get' | 'delete' | 'cas';
  readonly key: string;
  /** As it was put, or read; without one there is no such key. */
  readonly value?: string | undefined;
  /** For a cas: the key as it had to be, and whether it was. */
  readonly expected?: string | undefined;
  readonly swapped?: boolean | undefined;
  /** In whole units of one clock. */
  readonly call: number;
  readonly return: number;
  /** `failed` is certainly not done. */
  readonly outcome: 'ok' | 'failed' | 'unknown';
  /** The one that the write made, or that the value was made at. */
  readonly revision?: number | undefined;
}

export interface Verdict {
  readonly result: 'linearizable' | 'not linearizable' | 'undecided';
  /** The key where it is not, or nobody knows. */
  readonly key?: string;
  readonly operations: number;
}

export async function checkHistory(
  operations: readonly Operation[],
  withinMs = 30_000,
): Promise<Verdict> {
  const child = spawn(await resolvePart('porcupine-check'), [`-within=${withinMs}ms`]);
  // A checker that refuses a line reads no further.
  child.stdin.on('error', () => undefined);
  child.stdin.end(operations.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const [told, complaint] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (told === '') throw new Error(`porcupine-check: ${complaint}`);
  return JSON.parse(told) as Verdict;
}

interface Done {
  readonly value?: string | undefined;
  readonly swapped?: boolean;
  readonly revision?: string | undefined;
}

/** Does one thing after the other, and notes each in a history that several may share. */
export class RecordedClient {
  readonly #admin: EtcdAdmin;
  readonly #history: Operation[];
  readonly #client: number;

  constructor(admin: EtcdAdmin, history: Operation[], client: number) {
    this.#admin = admin;
    this.#history = history;
    this.#client = client;
  }

  async get(key: string, timeoutMs?: number): Promise<void> {
    await this.#note({ op: 'get', key }, async () => {
      const { found } = await this.#admin.keys.get(key, { timeoutMs });
      return { value: found?.value.toString(), revision: found?.modRevision };
    });
  }

  async put(key: string, value: string, timeoutMs?: number): Promise<void> {
    await this.#note({ op: 'put', key, value }, async () => {
      const { revision } = await this.#admin.keys.put(key, value, { timeoutMs });
      return { value, revision };
    });
  }

  async delete(key: string, timeoutMs?: number): Promise<void> {
    await this.#note({ op: 'delete', key }, async () => {
      const { isDone, header } = await this.#admin.keys.delete(key, { timeoutMs });
      return { revision: isDone ? header.revision : undefined };
    });
  }

  async swap(key: string, expected: string, value: string, timeoutMs?: number): Promise<void> {
    await this.#note({ op: 'cas', key, expected, value }, async () => {
      const wanted = { value: expected };
      const { isDone, header } = await this.#admin.keys.swap(key, wanted, value, { timeoutMs });
      return { value, swapped: isDone, revision: isDone ? header.revision : undefined };
    });
  }

  async #note(
    one: Pick<Operation, 'op' | 'key' | 'value' | 'expected'>,
    work: () => Promise<Done>,
  ): Promise<void> {
    const call = nowMicroseconds();
    const note = (outcome: Operation['outcome'], done: Done = one): void => {
      const { value, swapped, revision } = done;
      this.#history.push({
        ...one,
        client: this.#client,
        value,
        swapped,
        call,
        return: nowMicroseconds(),
        outcome,
        revision: revision === undefined ? undefined : Number(revision),
      });
    };
    try {
      note('ok', await work());
    } catch (error) {
      if (!isEtcdFailure(error)) throw error;
      note(error.isInDoubt ? 'unknown' : 'failed');
    }
  }
}

const nowMicroseconds = (): number => Math.floor(performance.now() * 1_000);
