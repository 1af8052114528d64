// Fills the embedded cluster and keeps it moving: pods are replaced at a steady rate, as rollouts
// and evictions would. Everything goes through the API server, as an admin would do it.
import { randomInt } from 'node:crypto';
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
const PAGE_SIZE = 500;
/** As long as the suffixes that a real ReplicaSet controller makes up. */
const SUFFIX_LENGTH = 5;
const SUFFIXES = 36 ** SUFFIX_LENGTH;

interface LivePod {
  readonly name: string;
  readonly namespace: string;
  readonly set: KubeObject;
}

export class Population {
  readonly #kube: KubeClient;
  readonly #options: PopulationOptions;
  readonly #pods: LivePod[] = [];
  #timer: NodeJS.Timeout | undefined;
  #ongoing: Promise<unknown> | undefined;

  constructor(kube: KubeClient, options: PopulationOptions) {
    this.#kube = kube;
    this.#options = options;
  }

  /** Adds what is missing: a cluster whose data was kept already has most of it. */
  async fill(signal?: AbortSignal): Promise<void> {
    const { nodes, pods } = this.#options;
    const indexes = Array.from({ length: nodes }, (_, index) => index);
    await this.#createAll(core('namespaces'), plan.namespaces());
    await this.#createAll(core('nodes'), indexes.map(plan.node));
    const workloads = plan.workloads(pods);
    const sets = await inParallel(workloads, IN_FLIGHT_MAX, (one) => this.#createSet(one));
    await this.#adoptPods(sets);
    const missing = sets.flatMap((set, index) => {
      const has = this.#pods.filter((pod) => pod.set === set).length;
      const wanted = workloads[index]?.replicas ?? 0;
      return Array.from({ length: Math.max(wanted - has, 0) }, () => set);
    });
    await inParallel(missing, IN_FLIGHT_MAX, async (set) => {
      signal?.throwIfAborted();
      await this.#addPod(set);
    });
  }

  /**
   * Changes go on until `stop`. One that fails (the API server is away) is told and is one change
   * less; while one takes longer than its time, the next ones are left out.
   */
  churn(onError: (error: unknown) => void): void {
    const { churnPerSecond } = this.#options;
    if (churnPerSecond <= 0) return;
    this.#timer = setInterval(() => {
      this.#ongoing ??= this.#changeOne()
        .catch(onError)
        .finally(() => (this.#ongoing = undefined));
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

  async #adoptPods(sets: readonly KubeObject[]): Promise<void> {
    const setByUid = new Map(sets.map((set) => [set.metadata.uid, set]));
    for await (const page of this.#kube.pages(core('pods'), { limit: PAGE_SIZE })) {
      for (const { metadata } of page.items) {
        const set = setByUid.get(metadata.ownerReferences?.[0]?.uid ?? '');
        const { name, namespace = '', deletionTimestamp } = metadata;
        if (set === undefined || deletionTimestamp !== undefined) continue;
        this.#pods.push({ name, namespace, set });
      }
    }
  }

  async #addPod(set: KubeObject): Promise<void> {
    const node = plan.nameOfNode(randomInt(this.#options.nodes));
    const suffix = randomInt(SUFFIXES).toString(36).padStart(SUFFIX_LENGTH, '0');
    const { object } = await this.#kube.create(core('pods'), plan.pod(set, suffix, node));
    const { name, namespace = '' } = object.metadata;
    this.#pods.push({ name, namespace, set });
  }

  /** One pod is replaced, as a rollout or an eviction would: with it come some eight events. */
  async #changeOne(): Promise<void> {
    if (this.#pods.length === 0) return;
    const index = randomInt(this.#pods.length);
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
