// Everything that a function which keeps servers in pods holds while it is awake, whatever the
// servers are: the API server, turns for the work on its objects, and its memory of them.
import type { Clock } from '../clock.ts';
import { KeyedMutex } from '../function/keyed-mutex.ts';
import { Slots } from '../function/slots.ts';
import type { KubeClient } from '../kube/client.ts';
import type { SweepLease } from '../kube/sweep-lease.ts';
import { Memories, type MemoriesOptions, type Weighed } from './memory.ts';
import type { OwnerVersions } from './owner-versions.ts';

export interface StatefulOptions {
  readonly kube: KubeClient;
  readonly clock: Clock;
  /** How long one request works on before it leaves the rest to the next. */
  readonly workMs: number;
  readonly lease: SweepLease;
  /** Set where parts are kept for as long as their owner. */
  readonly owners?: OwnerVersions | undefined;
}

/**
 * Reconciles under way at once, each with the answers of all servers in memory. An object gets one
 * step per turn, so one with many steps does not hold up the others.
 */
const RECONCILES_MAX = 8;

export class StatefulDeps<Memory extends Weighed> {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly workMs: number;
  readonly lease: SweepLease;
  readonly owners: OwnerVersions | undefined;
  protected readonly memories: Memories<Memory>;
  readonly #mutex = new KeyedMutex();
  readonly #slots = new Slots(RECONCILES_MAX);

  constructor(options: StatefulOptions, memories: MemoriesOptions<Memory>) {
    this.kube = options.kube;
    this.clock = options.clock;
    this.workMs = options.workMs;
    this.lease = options.lease;
    this.owners = options.owners;
    this.memories = new Memories(memories);
  }

  /** One reconcile at a time for each object. */
  serialized(key: string, work: (hasWaited: boolean) => Promise<void>): Promise<void> {
    return this.#mutex.run(key, work);
  }

  /** One step of one object, which then goes to the end of the line. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#slots.take(work);
  }

  memoryOf(uid: string): Memory {
    return this.memories.of(uid);
  }

  /** Frees the memory of objects that are gone. */
  keepOnly(uids: ReadonlySet<string>): void {
    this.memories.keepOnly(uids);
  }

  async close(): Promise<void> {
    await this.kube.close();
  }
}
