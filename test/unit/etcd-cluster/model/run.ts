// Runs both functions on the model: sweeps and moments in turn until the cluster is what its spec
// says, and again from each moment at which a process may have died.
import { pino } from 'pino';
import { Deps } from '../../../../functions/etcd-cluster/deps.ts';
import { reconciler } from '../../../../functions/etcd-cluster/reconciler.ts';
import { Deps as PeerDeps } from '../../../../functions/etcd-peer/deps.ts';
import { reconciler as peerReconciler } from '../../../../functions/etcd-peer/reconciler.ts';
import { ETCD_CLUSTER_LEASE, ETCD_CLUSTERS } from '../../../../shared/api/etcd-cluster.ts';
import { ETCD_PEER_LEASE } from '../../../../shared/api/etcd-peer.ts';
import type { Context } from '../../../../shared/function/define.ts';
import { Metrics } from '../../../../shared/function/metrics.ts';
import { isKubeError } from '../../../../shared/kube/errors.ts';
import type { PassingRun } from '../../stateful/passed.ts';
import { SPEC } from '../samples.ts';
import { adminOf } from './admin-model.ts';
import { EtcdModel, NAME, NAMESPACE } from './etcd-model.ts';
import { endPeers } from './faults.ts';

export interface Edit {
  readonly [field: string]: unknown;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** Far more than any change takes, fewer than a loop that never ends. */
const SWEEPS_MAX = 400;

const IDLE_SWEEPS = 20;

const log = pino({ level: 'silent' });
const AT = { namespace: NAMESPACE, name: NAME };

/** One cluster, of which nothing is made yet. */
function newModel(): EtcdModel {
  const model = new EtcdModel();
  makeCluster(model);
  const metadata = { name: 'standard' };
  const storageClass = { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' };
  const [apiVersion, kind] = ['storage.k8s.io/v1', 'StorageClass'];
  model.kube.put(storageClass, { apiVersion, kind, metadata, allowVolumeExpansion: true });
  return model;
}

function makeCluster({ kube }: EtcdModel): void {
  const tls = { clients: { mode: 'None' }, peers: { mode: 'None' } };
  const spec = { ...SPEC, tls };
  const [apiVersion, kind] = ['ballast.dev/v1alpha1', 'EtcdCluster'];
  kube.put(ETCD_CLUSTERS, { apiVersion, kind, metadata: AT, spec });
}

export class Run implements PassingRun {
  readonly model: EtcdModel;
  readonly metrics = new Metrics();
  onMoment: () => void = () => undefined;
  #deps: Deps;
  #peerDeps: PeerDeps;

  constructor(model = newModel()) {
    this.model = model;
    this.#deps = this.#makeDeps();
    this.#peerDeps = this.#makePeerDeps();
  }

  /** Another one in the same state, with nothing in memory. */
  copy(): Run {
    return new Run(this.model.copy());
  }

  state(): string {
    return this.model.state();
  }

  edit(spec: Edit): void {
    this.model.kube.change(ETCD_CLUSTERS, AT, { spec });
  }

  /** As `kubectl delete`: the garbage collector takes what it owns, and claims have no owner. */
  deleteCluster(): void {
    const { kube } = this.model;
    kube.remove(ETCD_CLUSTERS, AT);
    for (const [key, { metadata }] of kube.objects) {
      const [resource = '', , name = ''] = key.split('/');
      if ((metadata.ownerReferences ?? []).length === 0) continue;
      if (['secrets', 'services', 'poddisruptionbudgets', 'networkpolicies'].includes(resource)) {
        kube.remove({ group: '', version: 'v1', resource }, { namespace: NAMESPACE, name });
      }
    }
    endPeers(this.model);
  }

  makeCluster(): void {
    makeCluster(this.model);
  }

  #clock() {
    const { model } = this;
    return {
      nowMs: () => model.nowMs,
      sleep: async () => {
        await this.sweepPeers();
        model.tick();
        this.onMoment();
      },
    };
  }

  #makeDeps(): Deps {
    const { model } = this;
    return new Deps({
      kube: model.kube.client,
      openAdmin: adminOf(model),
      metrics: this.metrics,
      clock: this.#clock(),
      workMs: 5_000,
      lease: { namespace: 'ballast-system', name: ETCD_CLUSTER_LEASE, sweepSeconds: 60 },
    });
  }

  #makePeerDeps(): PeerDeps {
    const { model } = this;
    return new PeerDeps({
      kube: model.kube.client,
      clock: { nowMs: () => model.nowMs, sleep: async () => model.tick() },
      workMs: 0,
      lease: { namespace: 'ballast-system', name: ETCD_PEER_LEASE, sweepSeconds: 60 },
    });
  }

  /** As a person does who has read the plan: its id, and the survivor that it names. */
  confirm(): string {
    const { recovery } = this.#status();
    if (recovery === undefined) throw new Error('there is no plan to confirm');
    this.edit({ recovery: { confirm: recovery.id } });
    return recovery.survivor;
  }

  async sweep(): Promise<void> {
    const context = { deps: this.#deps, log, signal: new AbortController().signal };
    await orConflict(reconciler.sweepAll(context as unknown as Context<Deps>));
  }

  async sweepPeers(): Promise<void> {
    const context = { deps: this.#peerDeps, log, signal: new AbortController().signal };
    await orConflict(peerReconciler.sweepAll(context as unknown as Context<PeerDeps>));
  }

  /** Until it is Ready for the spec as it is; throws when it never is. */
  async converge(): Promise<void> {
    for (let sweeps = 0; sweeps < SWEEPS_MAX; sweeps += 1) {
      await this.sweep();
      await this.sweepPeers();
      if (this.isReady()) return this.onMoment();
      this.tick();
    }
    throw new Error(`never Ready: ${JSON.stringify(this.model.status(), undefined, 1)}`);
  }

  /** For so long that whatever it does by itself is done. */
  async idle(times = IDLE_SWEEPS): Promise<void> {
    for (let sweeps = 0; sweeps < times; sweeps += 1) {
      await this.sweep();
      await this.sweepPeers();
      this.tick();
    }
  }

  tick(): void {
    this.model.tick();
    this.onMoment();
  }

  isReady(): boolean {
    const { observedGeneration } = this.#status();
    const isTrue = this.condition('Ready').status === 'True';
    return isTrue && observedGeneration === this.#cluster().metadata.generation;
  }

  condition(wanted: string): Condition {
    const found = this.#status().conditions?.find(({ type }) => type === wanted);
    return found ?? { type: wanted, status: 'Unknown', reason: '', message: '' };
  }

  #status() {
    return (this.#cluster()['status'] ?? {}) as {
      readonly observedGeneration?: number;
      readonly recovery?: { readonly id: string; readonly survivor: string };
      readonly conditions?: readonly Condition[];
    };
  }

  #cluster() {
    const cluster = this.model.kube.objects.get(`etcdclusters/${NAMESPACE}/${NAME}`);
    if (cluster === undefined) throw new Error('the EtcdCluster is gone');
    return cluster;
  }

  /** Reasons of the Events that warn, in their order. */
  get warnings(): readonly string[] {
    const events = [...this.model.kube.of('events').values()];
    const warning = events.filter(({ type }) => type === 'Warning');
    return warning.map(({ reason }) => String(reason));
  }

  /** Writes that count: what people see as events of it is told besides. */
  get writes(): readonly string[] {
    return this.model.kube.writes.filter((one) => !one.startsWith('create events'));
  }

  /**
   * Another run for each moment at which a process may die in this work: before a write, or after.
   * The next process has nothing in memory, and begins a moment later.
   */
  async deathsIn(work: () => Promise<void>): Promise<readonly Run[]> {
    const { kube } = this.model;
    const left = new Map<string, Run>();
    kube.aroundWrite = () => {
      const moment = `${this.writes.length} ${this.model.nowMs}`;
      if (!left.has(moment)) left.set(moment, this.copy());
    };
    await work();
    kube.aroundWrite = () => undefined;
    for (const { model } of left.values()) model.tick();
    return [...left.values()];
  }
}

async function orConflict(sweeping: Promise<void>): Promise<void> {
  try {
    await sweeping;
  } catch (error) {
    if (!isKubeError(error)) throw error;
  }
}
