// Everything this function holds while it is awake: the API server, and for each cluster a cache
// that saves reads between two reconciles. All of it may be lost.
import type { Clock } from '../../shared/clock.ts';
import { Slots } from '../../shared/function/slots.ts';
import { KeyedMutex } from '../../shared/function/keyed-mutex.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { SweepLease } from '../../shared/kube/sweep-lease.ts';
import type { openSystem } from '../../shared/nats/system.ts';
import type { AttemptLog } from './attempts.ts';
import type { KnownPasswords } from './render/read-back.ts';
import type { SecretData } from './secret-data.ts';
import type { Parts } from './state.ts';

export interface DepsOptions {
  readonly kube: KubeClient;
  readonly openSystem: typeof openSystem;
  readonly clock: Clock;
  /** How long one request works on before it leaves the rest to the next. */
  readonly workMs: number;
  readonly lease: SweepLease;
}

/** Kept for one cluster between reconciles. */
export interface Memory {
  /** From the last reconcile that read all parts, for this generation of the spec. */
  parts?: { readonly value: Parts; readonly generation: number; readonly atMs: number };
  /**
   * Passwords of the last configuration that was read: when its Secret is gone, servers still have
   * them.
   */
  known?: KnownPasswords | undefined;
  /** A server was reached with TLS since the configuration says so. */
  hasSeenTls?: boolean;
  /** Content of Secrets that have no copy elsewhere, as last read. */
  readonly kept: Map<string, SecretData>;
  /** Answers of servers that refused to reload, by server, and for which digest. */
  readonly refusals: Map<string, { readonly digest: string; readonly why: string }>;
  /** The refusal of the NetworkPolicy and its time: it is tried again after a while. */
  policyRefusal?: { readonly reason: Reason; readonly atMs: number };
  /** Steps that may change nothing. */
  readonly attempts: AttemptLog;
  /** When each server last answered. */
  readonly contactMs: Map<string, number>;
}

/**
 * Reconciles under way at once, each with the answers of all servers in memory. A cluster gets one
 * step per turn, so one with many steps does not hold up the others.
 */
const RECONCILES_MAX = 8;

export class Deps {
  readonly kube: KubeClient;
  readonly openSystem: typeof openSystem;
  readonly clock: Clock;
  readonly workMs: number;
  readonly lease: SweepLease;
  readonly #mutex = new KeyedMutex();
  readonly #slots = new Slots(RECONCILES_MAX);
  readonly #memories = new Map<string, Memory>();

  constructor({ kube, openSystem: open, clock, workMs, lease }: DepsOptions) {
    this.kube = kube;
    this.openSystem = open;
    this.clock = clock;
    this.workMs = workMs;
    this.lease = lease;
  }

  /** One reconcile at a time for each cluster. */
  serialized(key: string, work: (hasWaited: boolean) => Promise<void>): Promise<void> {
    return this.#mutex.run(key, work);
  }

  /** One step of one cluster, which then goes to the end of the line. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#slots.take(work);
  }

  memoryOf(uid: string): Memory {
    const known = this.#memories.get(uid);
    if (known !== undefined) return known;
    const memory: Memory = {
      kept: new Map(),
      refusals: new Map(),
      attempts: new Map(),
      contactMs: new Map(),
    };
    this.#memories.set(uid, memory);
    return memory;
  }

  /** Frees the memory of clusters that are gone. */
  keepOnly(uids: ReadonlySet<string>): void {
    for (const uid of this.#memories.keys()) if (!uids.has(uid)) this.#memories.delete(uid);
  }

  async close(): Promise<void> {
    await this.kube.close();
  }
}
