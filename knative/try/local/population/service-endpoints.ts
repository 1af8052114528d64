// Keeps the EndpointSlice of each service of the embedded cluster in step with its pods, as the
// controller would that does not run here: it follows the pods, and writes the whole slice of a
// namespace shortly after one of them came, changed or went.
import { systemClock } from '../../../../shared/clock.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import type { KubeObject, ResourceRef } from '../../../../shared/kube/objects.ts';
import * as plan from './plan.ts';

const PODS: ResourceRef = { group: '', version: 'v1', resource: 'pods' };
const SLICES: ResourceRef = {
  group: 'discovery.k8s.io',
  version: 'v1',
  resource: 'endpointslices',
};

/** Pods come and go in groups; one write for each would be a write per pod of ever longer lists. */
const BATCH_MS = 500;

type OnError = (error: unknown) => void;

export class ServiceEndpoints {
  readonly #kube: KubeClient;
  readonly #signal: AbortSignal;
  /** By namespace: there is one service in each. */
  readonly #services = new Map<string, KubeObject>();
  readonly #pods = new Map<string, KubeObject>();
  #changed = new Set<string>();
  /** While the list of pods is not complete, a slice would lose endpoints that are there. */
  #isComplete = false;
  #following: Promise<unknown> = Promise.resolve();

  constructor(kube: KubeClient, signal: AbortSignal) {
    this.#kube = kube;
    this.#signal = signal;
  }

  /** Until the signal. A write that fails is told, and tried again. */
  follow(services: readonly KubeObject[], onError: OnError): void {
    const tell: OnError = (error) => {
      if (!this.#signal.aborted) onError(error);
    };
    for (const service of services) {
      const { namespace = '' } = service.metadata;
      this.#services.set(namespace, service);
      this.#changed.add(namespace);
    }
    if (services.length === 0) return;
    this.#following = Promise.all([this.#watch().catch(tell), this.#write(tell)]);
  }

  async ended(): Promise<void> {
    await this.#following;
  }

  async #watch(): Promise<void> {
    const selection = { labelSelector: plan.SERVED_LABEL, signal: this.#signal };
    for await (const event of this.#kube.watch(PODS, { ...selection, from: 'initial-events' })) {
      if (event.type === 'RESTART') {
        this.#isComplete = false;
        this.#pods.clear();
      } else if (event.type === 'BOOKMARK') {
        this.#isComplete ||= event.isInitialEventsEnd;
      } else {
        const { uid, namespace = '' } = event.object.metadata;
        if (event.type === 'DELETED') this.#pods.delete(uid);
        else this.#pods.set(uid, event.object);
        this.#changed.add(namespace);
      }
    }
  }

  async #write(tell: OnError): Promise<void> {
    const wait = (): Promise<boolean> =>
      systemClock.sleep(BATCH_MS, this.#signal).then(
        () => true,
        () => false,
      );
    while (await wait()) {
      if (!this.#isComplete) continue;
      const changed = this.#changed;
      this.#changed = new Set();
      for (const namespace of changed) {
        await this.#writeSlice(namespace).catch((error: unknown) => {
          this.#changed.add(namespace);
          tell(error);
        });
      }
    }
  }

  async #writeSlice(namespace: string): Promise<void> {
    const service = this.#services.get(namespace);
    if (service === undefined) return;
    const pods = [...this.#pods.values()].filter((pod) => pod.metadata.namespace === namespace);
    const slice = plan.endpointSlice(service, pods);
    await this.#kube.apply(SLICES, slice, { force: true, signal: this.#signal });
  }
}
