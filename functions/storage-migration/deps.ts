// Everything this function holds while it is awake: the API server, etcd where configured, and one
// piece of work at a time per migration.
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../shared/clock.ts';
import type { EtcdClient } from '../../shared/etcd/client.ts';
import { KeyedMutex } from '../../shared/function/keyed-mutex.ts';
import { Metrics } from '../../shared/function/metrics.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { OpenServer } from '../../shared/kube/servers.ts';
import type { SweepLease } from '../../shared/kube/sweep-lease.ts';
import { MigrationGauges } from './gauges.ts';

/** The etcd behind the API server, and where in it the keys are. */
export interface EtcdAccess {
  readonly client: EtcdClient;
  readonly prefixes: readonly string[];
}

export interface DepsOptions {
  readonly kube: KubeClient;
  readonly openServer: OpenServer;
  /** Undefined when none was configured. */
  readonly etcd?: EtcdAccess | undefined;
  readonly clock: Clock;
  /** How long one request works on before it leaves the rest to the next. */
  readonly workMs: number;
  /** How long a change of the stored version has to be known before it is relied on. */
  readonly settleMs: number;
  /** How long API servers let a write take. */
  readonly longestWriteMs: number;
  readonly lease: SweepLease;
  readonly metrics?: Metrics;
}

export class Deps {
  readonly kube: KubeClient;
  readonly openServer: OpenServer;
  readonly etcd: EtcdAccess | undefined;
  readonly clock: Clock;
  readonly workMs: number;
  readonly settleMs: number;
  readonly longestWriteMs: number;
  readonly lease: SweepLease;
  readonly gauges: MigrationGauges;
  /** Names this instance in the status of what it is at. */
  readonly id = randomUUID().slice(0, 8);
  readonly #mutex = new KeyedMutex();

  constructor(options: DepsOptions) {
    const { kube, openServer, etcd, clock, workMs, settleMs, longestWriteMs } = options;
    const { lease, metrics = new Metrics() } = options;
    this.kube = kube;
    this.openServer = openServer;
    this.etcd = etcd;
    this.clock = clock;
    this.workMs = workMs;
    this.settleMs = settleMs;
    this.longestWriteMs = longestWriteMs;
    this.lease = lease;
    this.gauges = new MigrationGauges(metrics);
  }

  /** One piece of work at a time per migration. */
  serialized(name: string, work: (hasWaited: boolean) => Promise<void>): Promise<void> {
    return this.#mutex.run(name, work);
  }

  async close(): Promise<void> {
    await Promise.all([this.kube.close(), this.etcd?.client.close()]);
  }
}
