// Changes a small cluster at random and without pause. It does not care whether a change is taken:
// most faults are such that some are not, and what the API server has in the end is what counts.
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Manifest, ResourceRef } from '../../shared/kube/objects.ts';
import { BEATING } from './heartbeat.ts';
import type { Random } from './random.ts';
import {
  DEPLOYMENTS,
  KINDS,
  NAMESPACE,
  NODES,
  NODE_NAMES,
  POD_NAMES,
  PODS,
  REPLICA_SETS,
  SERVICES,
  SLICES,
  endpoints,
  labelsOf,
  node,
  nodeStatus,
  pod,
  podStatus,
  service,
  slice,
  workload,
} from './shapes.ts';

const TIMEOUT_MS = 1_500;
const REMOVED_BY_HAND = { precondition: 'none', because: 'the rig owns the cluster' } as const;

/** Objects that are not the mutator's own. */
const KEPT: ReadonlySet<string> = new Set(['kubernetes', BEATING]);

interface Operation {
  readonly weight: number;
  readonly run: (mutator: Mutator, random: Random) => Promise<unknown>;
}

const podName = (random: Random): string => random.pick(POD_NAMES);

const OPERATIONS: readonly Operation[] = [
  { weight: 5, run: (on, random) => on.create(PODS, pod(podName(random), random)) },
  {
    weight: 5,
    run: (on, random) => on.create(PODS, pod(podName(random), random, random.pick(NODE_NAMES))),
  },
  { weight: 6, run: (on, random) => on.bind(podName(random), random.pick(NODE_NAMES)) },
  { weight: 6, run: (on, random) => on.label(PODS, podName(random), labelsOf(random)) },
  { weight: 8, run: (on, random) => on.status(PODS, podName(random), podStatus(random)) },
  { weight: 3, run: (on, random) => on.annotate(PODS, podName(random), random) },
  { weight: 4, run: (on, random) => on.remove(PODS, podName(random)) },
  {
    weight: 4,
    run: async (on, random) => {
      const name = podName(random);
      const next = pod(name, random, random.pick(NODE_NAMES));
      await on.remove(PODS, name);
      await on.create(PODS, next);
    },
  },
  { weight: 3, run: (on, random) => on.status(NODES, random.pick(NODE_NAMES), nodeStatus(random)) },
  {
    weight: 1,
    run: async (on, random) => {
      const name = random.pick(NODE_NAMES);
      const next = node(name, random);
      await on.remove(NODES, name);
      await on.create(NODES, next);
    },
  },
  {
    weight: 2,
    run: (on, random) => on.create(SERVICES, service(`s${random.between(0, 3)}`, random)),
  },
  { weight: 1, run: (on, random) => on.remove(SERVICES, `s${random.between(0, 3)}`) },
  { weight: 3, run: (on, random) => on.create(SLICES, slice(`e${random.between(0, 3)}`, random)) },
  {
    weight: 5,
    run: (on, random) =>
      on.merge(SLICES, `e${random.between(0, 3)}`, { endpoints: endpoints(random) }),
  },
  { weight: 1, run: (on, random) => on.remove(SLICES, `e${random.between(0, 3)}`) },
  {
    weight: 2,
    run: (on, random) =>
      on.create(DEPLOYMENTS, workload('Deployment', `d${random.between(0, 2)}`, random)),
  },
  {
    weight: 2,
    run: (on, random) => {
      const replicas = random.between(0, 9);
      return on.merge(DEPLOYMENTS, `d${random.between(0, 2)}`, { spec: { replicas } });
    },
  },
  { weight: 1, run: (on, random) => on.remove(DEPLOYMENTS, `d${random.between(0, 2)}`) },
  {
    weight: 2,
    run: (on, random) =>
      on.create(REPLICA_SETS, workload('ReplicaSet', `r${random.between(0, 3)}`, random)),
  },
  { weight: 1, run: (on, random) => on.remove(REPLICA_SETS, `r${random.between(0, 3)}`) },
];

export class Mutator {
  /** Changes that the API server took. */
  accepted = 0;
  /** Most were about an object that was not there. */
  refused = 0;
  readonly #kube: KubeClient;

  constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  async mutate(random: Random): Promise<void> {
    // The choices of an operation must not depend on whether the one before was taken.
    const own = random.fork(String(random.next()));
    try {
      await own.weighted(OPERATIONS).run(this, own);
      this.accepted += 1;
    } catch {
      this.refused += 1;
    }
  }

  /** Nodes and nothing on them. */
  async cleanUp(random: Random): Promise<void> {
    for (const ref of KINDS) {
      const scope = ref === NODES ? {} : { namespace: NAMESPACE };
      const { items } = await this.#kube.list(ref, scope);
      const names = items.map(({ metadata }) => metadata.name).filter((one) => !KEPT.has(one));
      await Promise.all(names.map((name) => this.remove(ref, name)));
    }
    await Promise.all(NODE_NAMES.map((name) => this.create(NODES, node(name, random))));
  }

  async create(ref: ResourceRef, manifest: Manifest): Promise<void> {
    await this.#kube.create(ref, manifest, { timeoutMs: TIMEOUT_MS });
  }

  async remove(ref: ResourceRef, name: string): Promise<void> {
    const options = { gracePeriodSeconds: 0, timeoutMs: TIMEOUT_MS };
    await this.#kube.delete(ref, target(ref, name), REMOVED_BY_HAND, options);
  }

  async bind(name: string, nodeName: string): Promise<void> {
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name },
      target: { kind: 'Node', name: nodeName },
    };
    const binding = { ...target(PODS, name), subresource: 'binding' };
    await this.#kube.createSubresource(PODS, binding, body, { timeoutMs: TIMEOUT_MS });
  }

  label(ref: ResourceRef, name: string, labels: Readonly<Record<string, string>>): Promise<void> {
    return this.merge(ref, name, { metadata: { labels } });
  }

  /** A change that shows nowhere. */
  annotate(ref: ResourceRef, name: string, random: Random): Promise<void> {
    const annotations = { note: String(random.between(0, 999)) };
    return this.merge(ref, name, { metadata: { annotations } });
  }

  status(ref: ResourceRef, name: string, status: Readonly<Record<string, unknown>>): Promise<void> {
    return this.merge(ref, name, { status }, 'status');
  }

  async merge(
    ref: ResourceRef,
    name: string,
    body: Readonly<Record<string, unknown>>,
    subresource?: string,
  ): Promise<void> {
    const on = { ...target(ref, name), ...(subresource === undefined ? {} : { subresource }) };
    await this.#kube.patch(ref, on, { type: 'merge', body }, { timeoutMs: TIMEOUT_MS });
  }
}

const target = (ref: ResourceRef, name: string): { name: string; namespace?: string } =>
  ref === NODES ? { name } : { name, namespace: NAMESPACE };
