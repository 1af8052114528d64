// Keeps one object of each kind busy with changes that show nowhere. In a cluster that rests, a
// sweep waits two seconds for the API server to say that it told everything; where each kind
// changes all the time, it need not.
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Manifest, ResourceRef } from '../../shared/kube/objects.ts';
import { BUILT_IN } from '../../shared/feed/projections/built-in.ts';
import type { Clock } from '../../shared/clock.ts';

const SPACE = 'heartbeat';
export const BEATING = 'beats';
/** Each beat is an event per kind, and a loaded machine must keep up with them. */
const EVERY_MS = 400;

const containers = [{ name: 'c0', image: 'app:1' }];
const labels = { app: BEATING };
const podOf = (more: object = {}): object => ({
  metadata: { labels },
  spec: { containers, ...more },
});
const scaled = { selector: { matchLabels: labels }, template: podOf() };
const job = { template: podOf({ restartPolicy: 'Never' }) };

const BODIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  nodes: {},
  namespaces: {},
  pods: { spec: { containers } },
  services: { spec: { ports: [{ port: 80 }] } },
  endpointslices: { addressType: 'IPv4', endpoints: [] },
  deployments: { spec: scaled },
  replicasets: { spec: scaled },
  statefulsets: { spec: { ...scaled, serviceName: BEATING } },
  daemonsets: { spec: scaled },
  jobs: { spec: job },
  cronjobs: { spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: job } } },
};

interface Beating {
  readonly ref: ResourceRef;
  readonly target: { readonly name: string; readonly namespace?: string };
}

const beating: readonly Beating[] = BUILT_IN.map(({ ref, resource, isNamespaced }) => ({
  ref,
  target: isNamespaced
    ? { name: BEATING, namespace: SPACE }
    : { name: resource === 'namespaces' ? SPACE : BEATING },
}));

export class Heartbeat {
  readonly #kube: KubeClient;
  readonly #clock: Clock;
  #beats = 0;

  constructor(kube: KubeClient, clock: Clock) {
    this.#kube = kube;
    this.#clock = clock;
  }

  async create(): Promise<void> {
    const first = (resource: string): number => Number(resource !== 'namespaces');
    const kinds = BUILT_IN.toSorted((a, b) => first(a.resource) - first(b.resource));
    for (const { ref, kind, resource } of kinds) {
      const target = beating.find((one) => one.ref === ref)?.target ?? { name: BEATING };
      const apiVersion = ref.group === '' ? ref.version : `${ref.group}/${ref.version}`;
      const manifest: Manifest = { apiVersion, kind, metadata: target, ...BODIES[resource] };
      await this.#kube.create(ref, manifest);
    }
  }

  /** Beats until the work is done. */
  async during<Result>(work: Promise<Result>): Promise<Result> {
    const ended = new AbortController();
    const beat = this.#beat(ended.signal);
    try {
      return await work;
    } finally {
      ended.abort();
      await beat;
    }
  }

  async #beat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#beats += 1;
      const body = { metadata: { annotations: { beats: String(this.#beats) } } };
      const patches = beating.map(({ ref, target }) =>
        this.#kube.patch(ref, target, { type: 'merge', body }, { timeoutMs: 2_000 }),
      );
      // A fault that is just being lifted may still turn some away.
      await Promise.allSettled(patches);
      await this.#clock.sleep(EVERY_MS, signal).catch(() => undefined);
    }
  }
}
