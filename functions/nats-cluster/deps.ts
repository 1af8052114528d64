// Everything this function holds while it is awake: the API server, and for each cluster a cache
// that saves reads between two reconciles. All of it may be lost.
import { serialize } from 'node:v8';
import type { Clock } from '../../shared/clock.ts';
import { Slots } from '../../shared/function/slots.ts';
import { KeyedMutex } from '../../shared/function/keyed-mutex.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { SweepLease } from '../../shared/kube/sweep-lease.ts';
import type { openSystem } from '../../shared/nats/system.ts';
import type { AttemptLog } from '../../shared/stateful/attempts.ts';
import type { Cluster } from './cluster.ts';
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
  /** The size of what was read for it. */
  bytes?: number;
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

/**
 * Others may write a megabyte into what parts are made of. The largest are read anew by each look,
 * so that whoever writes much costs nobody else anything; a usual cluster takes 20 KB.
 */
const REMEMBERED_BYTES_MAX = 24 * 2 ** 20;

const sizeOf = ({ bytes = 0 }: Memory): number => bytes;

function forget(memory: Memory): void {
  delete memory.parts;
  delete memory.known;
  delete memory.bytes;
  memory.kept.clear();
}

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

  /** Keeps what was read of a cluster, as long as all of it together is not too much. */
  remember({ uid, generation }: Cluster, parts: Parts): void {
    const memory = this.memoryOf(uid);
    memory.parts = { value: parts, generation, atMs: this.clock.nowMs() };
    memory.known = parts.known ?? memory.known;
    memory.bytes = serialize([parts, memory.known, memory.kept]).byteLength;
    const all = [...this.#memories.values()].toSorted((a, b) => sizeOf(b) - sizeOf(a));
    let bytes = all.reduce((sum, one) => sum + sizeOf(one), 0);
    for (const largest of all) {
      if (bytes <= REMEMBERED_BYTES_MAX) return;
      bytes -= sizeOf(largest);
      forget(largest);
    }
  }

  /** Frees the memory of clusters that are gone. */
  keepOnly(uids: ReadonlySet<string>): void {
    for (const uid of this.#memories.keys()) if (!uids.has(uid)) this.#memories.delete(uid);
  }

  async close(): Promise<void> {
    await this.kube.close();
  }
}
