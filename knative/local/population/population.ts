// Fills the embedded cluster and keeps it moving: pods are replaced at a steady rate, as rollouts
// and evictions would. Everything goes through the API server, as an admin would do it.
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject, Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import { inParallel } from '../cluster/in-parallel.ts';
import * as plan from './plan.ts';

export interface PopulationOptions {
  readonly nodes: number;
  readonly pods: number;
  /** Pods replaced or changed per second; 0 for a cluster at rest. */
  readonly churnPerSecond: number;
}

const core = (resource: string): ResourceRef => ({ group: '', version: 'v1', resource });
const apps = (resource: string): ResourceRef => ({ group: 'apps', version: 'v1', resource });

/** Creates in flight at once; more only queue up in the API server. */
const IN_FLIGHT_MAX = 16;

interface LivePod {
  readonly name: string;
  readonly namespace: string;
  readonly set: KubeObject;
}

export class Population {
  readonly #kube: KubeClient;
  readonly #options: PopulationOptions;
  readonly #pods: LivePod[] = [];
  #serial = 0;
  #timer: NodeJS.Timeout | undefined;
  #ongoing: Promise<void> = Promise.resolve();

  constructor(kube: KubeClient, options: PopulationOptions) {
    this.#kube = kube;
    this.#options = options;
  }

  async fill(): Promise<void> {
    const { nodes, pods } = this.#options;
    await this.#createAll(core('namespaces'), plan.namespaces());
    await this.#createAll(
      core('nodes'),
      Array.from({ length: nodes }, (_, index) => plan.node(index)),
    );
    const workloads = plan.workloads(pods);
    const sets = await inParallel(workloads, IN_FLIGHT_MAX, (workload) =>
      this.#createSet(workload),
    );
    const wanted = sets.flatMap((set, index) =>
      Array.from({ length: workloads[index]?.replicas ?? 0 }, () => set),
    );
    await inParallel(wanted, IN_FLIGHT_MAX, (set) => this.#addPod(set));
  }

  /**
   * Changes go on until `stop`; one that fails (the API server is away) is told and is one change
   * less.
   */
  churn(onError: (error: unknown) => void): void {
    const { churnPerSecond } = this.#options;
    if (churnPerSecond <= 0) return;
    this.#timer = setInterval(() => {
      this.#ongoing = this.#ongoing.then(() => this.#changeOne()).catch(onError);
    }, 1_000 / churnPerSecond);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#ongoing;
  }

  async #createAll(resource: ResourceRef, manifests: readonly Manifest[]): Promise<void> {
    await inParallel(manifests, IN_FLIGHT_MAX, (manifest) => this.#kube.create(resource, manifest));
  }

  async #createSet(workload: plan.Workload): Promise<KubeObject> {
    const owner = await this.#kube.create(apps('deployments'), plan.deployment(workload));
    const set = await this.#kube.create(
      apps('replicasets'),
      plan.replicaSet(workload, owner.object),
    );
    return set.object;
  }

  async #addPod(set: KubeObject): Promise<void> {
    this.#serial += 1;
    const node = plan.nodeName(this.#serial % this.#options.nodes);
    const suffix = this.#serial.toString(36).padStart(5, '0');
    const { object } = await this.#kube.create(core('pods'), plan.pod(set, suffix, node));
    const { name, namespace = '' } = object.metadata;
    this.#pods.push({ name, namespace, set });
  }

  /** One pod is replaced, as a rollout or an eviction would: with it come some eight events. */
  async #changeOne(): Promise<void> {
    const index = Math.floor(Math.random() * this.#pods.length);
    const victim = this.#pods[index];
    if (victim === undefined) return;
    this.#pods.splice(index, 1);
    await this.#addPod(victim.set);
    const because = 'whichever pod has this name now is to be replaced';
    const { name, namespace } = victim;
    const target = { name, namespace };
    await this.#kube.delete(core('pods'), target, { precondition: 'none', because });
  }
}
