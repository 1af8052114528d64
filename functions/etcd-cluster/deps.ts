// Everything this function holds while it is awake: the API server, and for each cluster a cache
// that saves reads between two reconciles. All of it may be lost.
import type { openEtcdAdmin } from '../../shared/etcd/admin.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { SecretData } from '../../shared/stateful/certificates/secret-data.ts';
import type { AttemptLog } from '../../shared/stateful/attempts.ts';
import { StatefulDeps, type StatefulOptions } from '../../shared/stateful/deps.ts';
import type { Cluster } from './cluster.ts';
import type { Parts } from './state.ts';

export interface DepsOptions extends StatefulOptions {
  readonly openAdmin: typeof openEtcdAdmin;
}

/** Kept for one cluster between reconciles. */
export interface Memory {
  /** From the last reconcile that read all parts, for this generation of the spec. */
  parts?: { readonly value: Parts; readonly generation: number; readonly atMs: number };
  /** The size of what was read for it. */
  bytes?: number;
  /** Content of Secrets that have no copy elsewhere, as last read. */
  readonly kept: Map<string, SecretData>;
  /** The refusal of the NetworkPolicy and its time: it is tried again after a while. */
  policyRefusal?: { readonly reason: Reason; readonly atMs: number };
  /** Steps that may change nothing. */
  readonly attempts: AttemptLog;
  /** When each member last answered. */
  readonly contactMs: Map<string, number>;
}

export class Deps extends StatefulDeps<Memory> {
  readonly openAdmin: typeof openEtcdAdmin;

  constructor({ openAdmin, ...options }: DepsOptions) {
    const make = (): Memory => ({
      kept: new Map(),
      attempts: new Map(),
      contactMs: new Map(),
    });
    const forget = (memory: Memory): void => {
      delete memory.parts;
      memory.kept.clear();
    };
    super(options, { make, forget });
    this.openAdmin = openAdmin;
  }

  /** Keeps what was read of a cluster, as long as all of it together is not too much. */
  remember({ uid, generation }: Cluster, parts: Parts): void {
    const memory = this.memoryOf(uid);
    memory.parts = { value: parts, generation, atMs: this.clock.nowMs() };
    this.memories.weigh(uid, [parts, memory.kept]);
  }
}
