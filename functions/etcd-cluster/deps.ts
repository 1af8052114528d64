// Everything this function holds while it is awake: the API server, and for each cluster a cache
// that saves reads between two reconciles. All of it may be lost.
import type { openEtcdAdmin } from '../../shared/etcd/admin.ts';
import { Metrics } from '../../shared/function/metrics.ts';
import { StatefulDeps, type StatefulOptions } from '../../shared/stateful/deps.ts';
import {
  newServersMemory,
  type Remembered,
  type ServersMemory,
} from '../../shared/stateful/memory.ts';
import type { Session } from '../../shared/etcd/admin/caller.ts';
import type { AuthMemory } from './auth/ask.ts';
import { BackupGauges } from './backups/gauges.ts';
import type { BackupsMemory } from './backups/observe.ts';
import type { Cluster } from './cluster.ts';
import type { UpkeepMemory } from './etcd-state.ts';
import { EtcdClusterGauges } from './gauges.ts';
import type { Parts, PeerClaim } from './state.ts';

export interface DepsOptions extends StatefulOptions {
  readonly openAdmin: typeof openEtcdAdmin;
  readonly metrics?: Metrics;
}

/** Claims, and all that they were read with: as long as none of that moves they do not either. */
export interface SeenClaims {
  readonly beside: string;
  readonly claims: readonly PeerClaim[];
}

export interface Memory extends ServersMemory<Parts>, AuthMemory {
  parts?: Remembered<Parts> & { seen?: SeenClaims };
  /** Dear answers about a cluster in trouble. */
  readonly upkeep: UpkeepMemory;
  /** Little of each schedule, and of so many. */
  readonly backups: BackupsMemory;
  /** With the token that members gave for it. */
  session?: Session;
}

const newMemory = (): Memory => ({ ...newServersMemory<Parts>(), upkeep: {}, backups: {} });

export class Deps extends StatefulDeps<Memory> {
  readonly openAdmin: typeof openEtcdAdmin;
  readonly backupGauges: BackupGauges;
  readonly gauges: EtcdClusterGauges;

  constructor({ openAdmin, metrics = new Metrics(), ...options }: DepsOptions) {
    const forget = (memory: Memory): void => {
      delete memory.parts;
      memory.kept.clear();
    };
    super(options, { make: newMemory, forget });
    this.openAdmin = openAdmin;
    this.backupGauges = new BackupGauges(metrics);
    this.gauges = new EtcdClusterGauges(metrics);
  }

  override keepOnly(uids: ReadonlySet<string>): void {
    super.keepOnly(uids);
    this.backupGauges.keepOnly(uids);
    this.gauges.keepOnly(uids);
  }

  /** Keeps what was read of a cluster, as long as all of it together is not too much. */
  remember({ uid, generation }: Cluster, parts: Parts): void {
    const memory = this.memoryOf(uid);
    memory.parts = { value: parts, generation, atMs: this.clock.nowMs() };
    this.memories.weigh(uid, [parts, memory.kept]);
  }

  /** With the parts that were read or believed before, and for as long as those. */
  rememberClaims({ uid }: Cluster, seen: SeenClaims): void {
    const { parts, kept } = this.memoryOf(uid);
    if (parts === undefined) return;
    parts.seen = seen;
    this.memories.weigh(uid, [parts, kept]);
  }
}
