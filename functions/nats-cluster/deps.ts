// Everything this function holds while it is awake: the API server, and for each cluster a cache
// that saves reads between two reconciles. All of it may be lost.
import { Metrics } from '../../shared/function/metrics.ts';
import type { openSystem } from '../../shared/nats/system.ts';
import { StatefulDeps, type StatefulOptions } from '../../shared/stateful/deps.ts';
import { newServersMemory, type ServersMemory } from '../../shared/stateful/memory.ts';
import type { Cluster } from './cluster.ts';
import { NatsClusterGauges } from './gauges.ts';
import type { KnownPasswords } from './render/read-back.ts';
import type { Parts } from './state.ts';

export interface DepsOptions extends StatefulOptions {
  readonly openSystem: typeof openSystem;
  readonly metrics?: Metrics;
}

/** Kept for one cluster between reconciles. */
export interface Memory extends ServersMemory<Parts> {
  /**
   * Passwords of the last configuration that was read: when its Secret is gone, servers still have
   * them.
   */
  known?: KnownPasswords | undefined;
  /** A server was reached with TLS since the configuration says so. */
  hasSeenTls?: boolean;
  /** When Secrets could not be named in the budget. */
  namesRefusedAtMs?: number;
  /** Answers of servers that refused to reload, by server, and for which digest. */
  readonly refusals: Map<string, { readonly digest: string; readonly why: string }>;
}

function forget(memory: Memory): void {
  delete memory.parts;
  delete memory.known;
  memory.kept.clear();
}

const newMemory = (): Memory => ({ ...newServersMemory<Parts>(), refusals: new Map() });

export class Deps extends StatefulDeps<Memory> {
  readonly openSystem: typeof openSystem;
  readonly gauges: NatsClusterGauges;

  constructor({ openSystem: open, metrics = new Metrics(), ...options }: DepsOptions) {
    super(options, { make: newMemory, forget });
    this.openSystem = open;
    this.gauges = new NatsClusterGauges(metrics);
  }

  override keepOnly(uids: ReadonlySet<string>): void {
    super.keepOnly(uids);
    this.gauges.keepOnly(uids);
  }

  /** Keeps what was read of a cluster, as long as all of it together is not too much. */
  remember({ uid, generation }: Cluster, parts: Parts): void {
    const memory = this.memoryOf(uid);
    memory.parts = { value: parts, generation, atMs: this.clock.nowMs() };
    memory.known = parts.known ?? memory.known;
    this.memories.weigh(uid, [parts, memory.known, memory.kept]);
  }
}
