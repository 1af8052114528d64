// A node of paper: pods that are bound to it are said to run, as a kubelet would say, and nobody
// starts them. For tests of what becomes of the objects of pods; a real one costs a second of a
// core from its start to its end.
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { isKubeError } from '../../../../shared/kube/errors.ts';
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import { PODS } from '../../../../shared/stateful/parts.ts';

const NODES = { group: '', version: 'v1', resource: 'nodes' } as const;
const NAME = 'paper';
const RUNNING = {
  phase: 'Running',
  conditions: ['Initialized', 'Ready', 'ContainersReady'].map((type) => ({ type, status: 'True' })),
};

/** In the spec of a pod: it is bound here, and stays though no kubelet speaks for the node. */
export const ON_PAPER = {
  nodeName: NAME,
  tolerations: [{ operator: 'Exists' }],
  terminationGracePeriodSeconds: 0,
} as const;

export class PaperNode {
  readonly #kube: KubeClient;
  readonly #end = new AbortController();
  readonly #work: Promise<void>;

  private constructor(kube: KubeClient) {
    this.#kube = kube;
    this.#work = this.#follow().catch((error: unknown) => {
      if (!this.#end.signal.aborted) throw error;
    });
    // `close` tells what it fails with.
    this.#work.catch(() => undefined);
  }

  static async open(kube: KubeClient): Promise<PaperNode> {
    // Nobody else's pods come here.
    const spec = { taints: [{ key: 'ballast.dev/paper', effect: 'NoSchedule' }] };
    const metadata = { name: NAME };
    await kube.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata, spec });
    return new PaperNode(kube);
  }

  /** The pods that it still has go with it. */
  async close(): Promise<void> {
    this.#end.abort();
    const because = 'no other node has this name';
    await this.#kube.delete(NODES, { name: NAME }, { precondition: 'none', because });
    await this.#work;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#end;
    const of = { fieldSelector: `spec.nodeName=${NAME}`, from: 'initial-events', signal } as const;
    for await (const event of this.#kube.watch(PODS, of)) {
      if ('object' in event && event.type !== 'DELETED') await this.#run(event.object);
    }
  }

  async #run({ metadata: { namespace = '', name, uid }, status }: KubeObject): Promise<void> {
    if (Object(status).phase === RUNNING.phase) return;
    const target = { namespace, name, subresource: 'status' } as const;
    const body = { metadata: { uid }, status: RUNNING };
    await this.#kube.patch(PODS, target, { type: 'merge', body }).catch((error: unknown) => {
      // It is gone already.
      if (!isKubeError(error, 'KUBE_NOT_FOUND', 'KUBE_CONFLICT')) throw error;
    });
  }
}
