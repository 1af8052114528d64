// Runs the function on the model: sweeps and moments in turn until the cluster is what its spec
// says, and again from each moment at which the process may have died.
import { pino } from 'pino';
import { Deps } from '../../../../functions/nats-cluster/deps.ts';
import { reconciler } from '../../../../functions/nats-cluster/reconciler.ts';
import { NATS_CLUSTER_LEASE, NATS_CLUSTERS } from '../../../../shared/api/nats-cluster.ts';
import type { Context } from '../../../../shared/function/define.ts';
import { Metrics } from '../../../../shared/function/metrics.ts';
import { isKubeError } from '../../../../shared/kube/errors.ts';
import type { PassingRun } from '../../stateful/passed.ts';
import { SPEC } from '../samples.ts';
import { systemOf } from './system-model.ts';
import { NAME, NAMESPACE, ClusterModel } from './cluster-model.ts';

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

const log = pino({ level: 'silent' });

/** One cluster, of which nothing is made yet. */
function newModel(): ClusterModel {
  const model = new ClusterModel();
  const metadata = { namespace: NAMESPACE, name: NAME };
  const kind = 'NatsCluster';
  const apiVersion = 'ballast.dev/v1alpha1';
  const spec = { ...SPEC, image: 'nats:2.14.9' };
  model.kube.put(NATS_CLUSTERS, { apiVersion, kind, metadata, spec });
  model.kube.put(
    { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'standard' },
      allowVolumeExpansion: true,
    },
  );
  return model;
}

export class Run implements PassingRun {
  readonly model: ClusterModel;
  readonly metrics = new Metrics();
  onMoment: () => void = () => undefined;
  #deps: Deps;

  constructor(model = newModel()) {
    this.model = model;
    this.#deps = this.#makeDeps();
  }

  /** Another one in the same state, with the same in memory. */
  copy(): Run {
    const copy = new Run(this.model.copy());
    const { uid } = this.#cluster().metadata;
    Object.assign(copy.#deps.memoryOf(uid), structuredClone(this.#deps.memoryOf(uid)));
    return copy;
  }

  /** Forgets the memory of the process, as when it slept. */
  forget(): void {
    this.#deps = this.#makeDeps();
  }

  state(): string {
    return this.model.state();
  }

  edit(spec: Edit): void {
    const at = { namespace: NAMESPACE, name: NAME };
    this.model.kube.change(NATS_CLUSTERS, at, { spec });
  }

  /** Another instance takes over; what the first one had in memory is gone. */
  #makeDeps(): Deps {
    const { model } = this;
    const clock = {
      nowMs: () => model.nowMs,
      sleep: async () => {
        model.tick();
        this.onMoment();
      },
    };
    return new Deps({
      kube: model.kube.client,
      openSystem: async ({ passwords }) => {
        const { Failure } = await import('../../../../shared/errors.ts');
        const lets = [...model.servers.values()].some((one) => passwords.includes(one.password));
        if (!lets) throw new Failure('NATS_REFUSED', 'Nobody lets us in.');
        return systemOf(model);
      },
      clock,
      metrics: this.metrics,
      workMs: 5_000,
      lease: { namespace: 'ballast-system', name: NATS_CLUSTER_LEASE, sweepSeconds: 60 },
    });
  }

  async sweep(): Promise<void> {
    const context = { deps: this.#deps, log, signal: new AbortController().signal };
    try {
      await reconciler.sweepAll(context as unknown as Context<Deps>);
    } catch (error) {
      if (!isKubeError(error)) throw error;
    }
  }

  /** Until it is Ready for the spec as it is; throws when it never is. */
  async converge(): Promise<void> {
    for (let sweeps = 0; sweeps < SWEEPS_MAX; sweeps += 1) {
      await this.sweep();
      if (this.isReady()) return this.onMoment();
      this.model.tick();
      this.onMoment();
    }
    throw new Error(`never Ready: ${JSON.stringify(this.model.status(), undefined, 1)}`);
  }

  isReady(): boolean {
    const { metadata } = this.#cluster();
    const isTrue = this.condition('Ready').status === 'True';
    return isTrue && this.#status().observedGeneration === metadata.generation;
  }

  condition(type: string): Omit<Condition, 'type'> {
    const said = this.#status().conditions?.find((one) => one.type === type);
    return said ?? { status: 'Unknown', reason: '', message: '' };
  }

  #status() {
    return (this.#cluster()['status'] ?? {}) as {
      readonly conditions?: readonly Condition[];
      readonly observedGeneration?: number;
    };
  }

  #cluster() {
    const cluster = this.model.kube.objects.get(`natsclusters/${NAMESPACE}/${NAME}`);
    if (cluster === undefined) throw new Error('the NatsCluster is gone');
    return cluster;
  }

  /** Writes that count: what people see as events of it is said besides. */
  get writes(): readonly string[] {
    return this.model.kube.writes.filter((one) => !one.startsWith('create events'));
  }

  /** Reasons of the Events that warn, in their order. */
  get warnings(): readonly string[] {
    const events = [...this.model.kube.of('events').values()];
    const warning = events.filter(({ type }) => type === 'Warning');
    return warning.map(({ reason }) => String(reason));
  }

  /**
   * The cluster as a process leaves it that dies in this work, for each moment at which it may die:
   * before a write, or after. The next one has nothing in memory, and begins a moment later.
   * Nothing happens between two writes of one moment: after the first is before the second.
   */
  async deathsIn(work: () => Promise<void>): Promise<readonly Run[]> {
    const { kube } = this.model;
    const left = new Map<string, Run>();
    kube.aroundWrite = () => {
      const moment = `${this.writes.length} ${this.model.nowMs}`;
      if (!left.has(moment)) left.set(moment, new Run(this.model.copy()));
    };
    await work();
    kube.aroundWrite = () => undefined;
    for (const { model } of left.values()) model.tick();
    return [...left.values()];
  }
}
