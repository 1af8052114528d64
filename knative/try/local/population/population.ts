// Fills the embedded cluster and keeps it moving: pods are replaced at a steady rate, as rollouts
// and evictions would, and services follow them. Everything goes through the API server, as an
// admin would do it.
import { randomInt } from 'node:crypto';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import type { KubeObject, Manifest, ResourceRef } from '../../../../shared/kube/objects.ts';
import { inParallel } from '../cluster/in-parallel.ts';
import * as plan from './plan.ts';
import { ServiceEndpoints } from './service-endpoints.ts';

export interface PopulationOptions {
  readonly nodes: number;
  readonly pods: number;
  /** Pods replaced or changed per second; 0 for a cluster at rest. */
  readonly churnPerSecond: number;
  /** Ends every call that is under way. */
  readonly signal?: AbortSignal | undefined;
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
  readonly #endpoints: ServiceEndpoints;
  #services: readonly KubeObject[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #ongoing = new Set<Promise<unknown>>();
  readonly #end = new AbortController();
  readonly #signal: AbortSignal;

  constructor(kube: KubeClient, options: PopulationOptions) {
    this.#kube = kube;
    this.#options = options;
    const { signal } = options;
    this.#signal = signal ? AbortSignal.any([signal, this.#end.signal]) : this.#end.signal;
    this.#endpoints = new ServiceEndpoints(kube, this.#signal);
  }

  /** Adds what is missing: a cluster whose data was kept already has most of it. */
  async fill(): Promise<void> {
    const { nodes, pods } = this.#options;
    const indexes = Array.from({ length: nodes }, (_, index) => index);
    await this.#createAll(core('namespaces'), plan.namespaces());
    await this.#createAll(core('nodes'), indexes.map(plan.node));
    const workloads = plan.workloads(pods);
    const sets = await inParallel(workloads, IN_FLIGHT_MAX, (one) => this.#createSet(one));
    this.#services = await this.#createAll(core('services'), plan.services(workloads));
    await this.#adoptPods(sets);
    const missing = sets.flatMap((set, index) => {
      const has = this.#pods.filter((pod) => pod.set === set).length;
      const wanted = workloads[index]?.replicas ?? 0;
      return Array.from({ length: Math.max(wanted - has, 0) }, () => set);
    });
    await inParallel(missing, IN_FLIGHT_MAX, (set) => this.#addPod(set));
  }

  /**
   * Services follow their pods, and changes go on, until `stop`. One that fails (the API server is
   * away) is told and is one change less; when as many are under way as may be, the next ones are
   * left out.
   */
  live(onError: (error: unknown) => void): void {
    this.#endpoints.follow(this.#services, onError);
    const { churnPerSecond } = this.#options;
    if (churnPerSecond <= 0) return;
    this.#timer = setInterval(() => {
      if (this.#ongoing.size >= IN_FLIGHT_MAX) return;
      const change = this.#changeOne().catch((error: unknown) => {
        if (!this.#signal.aborted) onError(error);
      });
      this.#ongoing.add(change);
      void change.then(() => this.#ongoing.delete(change));
    }, 1_000 / churnPerSecond);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#end.abort();
    await Promise.all([...this.#ongoing, this.#endpoints.ended()]);
  }

  #createAll(
    resource: ResourceRef,
    manifests: readonly Manifest[],
  ): Promise<readonly KubeObject[]> {
    return inParallel(manifests, IN_FLIGHT_MAX, (manifest) => this.#create(resource, manifest));
  }

  async #createSet(workload: plan.Workload): Promise<KubeObject> {
    const owner = await this.#create(apps('deployments'), plan.deployment(workload));
    return this.#create(apps('replicasets'), plan.replicaSet(workload, owner));
  }

  async #create(resource: ResourceRef, manifest: Manifest): Promise<KubeObject> {
    return (await this.#kube.create(resource, manifest, { signal: this.#signal })).object;
  }

  async #adoptPods(sets: readonly KubeObject[]): Promise<void> {
    const setByUid = new Map(sets.map((set) => [set.metadata.uid, set]));
    const options = { limit: PAGE_SIZE, signal: this.#signal };
    for await (const page of this.#kube.pages(core('pods'), options)) {
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
    const { metadata } = await this.#create(core('pods'), plan.pod(set, suffix, node));
    const { name, namespace = '' } = metadata;
    this.#pods.push({ name, namespace, set });
  }

  /** One pod is replaced, as a rollout or an eviction would: with it come some eight events. */
  async #changeOne(): Promise<void> {
    if (this.#pods.length === 0) return;
    const index = randomInt(this.#pods.length);
    const victim = this.#pods[index];
    if (victim === undefined) return;
    this.#pods.splice(index, 1);
    try {
      await this.#addPod(victim.set);
      await this.#removePod(victim);
    } catch (error) {
      this.#pods.push(victim);
      throw error;
    }
  }

  async #removePod({ name, namespace }: LivePod): Promise<void> {
    const because = 'whichever pod has this name now is to be replaced';
    const precondition = { precondition: 'none', because } as const;
    const options = { signal: this.#signal };
    await this.#kube.delete(core('pods'), { name, namespace }, precondition, options);
  }
}
