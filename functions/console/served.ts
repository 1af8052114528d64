// Which services send to which pods, by the endpoint slices of the feed. It holds names alone, one
// for each endpoint: the indexes of a replica would cost several times as much.
import type { Change } from '../../shared/nats/replica/changes.ts';
import type { Entry } from '../../shared/nats/replica/entry.ts';

type Content = Exclude<Change, { readonly type: 'resync' }>;

const NONE: readonly string[] = [];

export class Served {
  /** By `namespace/pod`, a service once for each slice that names it: most have one or two. */
  readonly #servicesOf = new Map<string, readonly string[]>();

  clear(): void {
    this.#servicesOf.clear();
  }

  /** The names, each once. */
  of(pod: string): string {
    return [...new Set(this.#servicesOf.get(pod))].toSorted().join(' ');
  }

  /** Takes a change of an endpoint slice. Answers the pods of which the services are others now. */
  apply(change: Content): readonly string[] {
    const before = endpointsIn(beforeOf(change));
    const after = endpointsIn(change.type === 'removed' ? undefined : change.entry);
    const pods = [...new Set([...before.pods, ...after.pods])];
    const were = pods.map((pod) => this.of(pod));
    for (const pod of before.pods) this.#remove(pod, before.service);
    for (const pod of after.pods) this.#add(pod, after.service);
    return pods.filter((pod, at) => this.of(pod) !== were[at]);
  }

  #add(pod: string, service: string): void {
    this.#servicesOf.set(pod, [...(this.#servicesOf.get(pod) ?? NONE), service]);
  }

  #remove(pod: string, service: string): void {
    const services = this.#servicesOf.get(pod) ?? NONE;
    const one = services.indexOf(service);
    const left = services.filter((_, at) => at !== one);
    if (left.length === 0) this.#servicesOf.delete(pod);
    else this.#servicesOf.set(pod, left);
  }
}

const beforeOf = (change: Content): Entry | undefined => {
  if (change.type === 'changed') return change.previous;
  return change.type === 'removed' ? change.entry : undefined;
};

interface Endpoints {
  readonly service: string;
  /** As `namespace/pod`, each once. */
  readonly pods: readonly string[];
}

/** A slice of no service, and an endpoint that is no pod, stand for nothing here. */
function endpointsIn(slice: Entry | undefined): Endpoints {
  const { service = '', endpoints = [] } = slice?.object ?? {};
  if (slice === undefined || service === '') return { service, pods: NONE };
  const names = new Set(endpoints.flatMap(({ pod }) => pod?.name ?? NONE));
  return { service, pods: [...names].map((name) => `${slice.key.namespace}/${name}`) };
}
