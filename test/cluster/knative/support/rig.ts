// A namespace of a test on a cluster with Knative: applies objects and waits until they are ready,
// calls services through the ingress, and asks the test's functions what they have seen.
import { randomUUID } from 'node:crypto';
import { request } from 'undici';
import { vi } from 'vitest';
import {
  type Gateways,
  KNATIVE_DOMAIN,
} from '../../../../knative/try/cluster/knative/knative-settings.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import type { Condition } from '../../../../shared/kube/conditions.ts';
import type { DiscoveredResource, KubeObject, Manifest } from '../../../../shared/kube/objects.ts';

export interface Seen {
  readonly id: string;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Answer {
  readonly statusCode: number;
  readonly contentType: string;
  readonly text: string;
}

/**
 * A pod on a machine that does other things starts in seconds. One that was killed by force may
 * keep its lease, and until that has run out nobody does what its controller did.
 */
const READY_WITHIN_MS = 150_000;
const POLL_MS = 200;
const REQUEST_TIMEOUT_MS = 30_000;

/** Shaped as Knative's data plane wants it. */
export const binaryEvent = (type: string, id: string): Record<string, string> => ({
  'ce-specversion': '1.0',
  'ce-type': type,
  'ce-source': 'test/cluster',
  'ce-id': id,
  'content-type': 'application/json',
});

export const eventually = <Value>(check: () => Promise<Value>): Promise<Value> =>
  vi.waitFor(check, { timeout: READY_WITHIN_MS, interval: POLL_MS });

export class Rig {
  readonly kube: KubeClient;
  readonly namespace: string;
  readonly #gateways: Gateways;

  constructor(kube: KubeClient, namespace: string, gateways: Gateways) {
    this.kube = kube;
    this.namespace = namespace;
    this.#gateways = gateways;
  }

  async apply(...objects: readonly Manifest[]): Promise<void> {
    for (const object of objects) {
      const resource = await this.#resourceFor(object);
      await this.kube.apply(resource, object, { force: true });
    }
  }

  /** Applied, and said to be ready by Knative if it is of a kind of its. */
  async up(...objects: readonly Manifest[]): Promise<void> {
    await this.apply(...objects);
    const own = objects.filter(({ apiVersion }) => apiVersion.includes('knative.dev/'));
    await Promise.all(own.map((object) => this.ready(object)));
  }

  async ready(object: Manifest): Promise<KubeObject> {
    const resource = await this.#resourceFor(object);
    const ready = eventually(async () => {
      const found = await this.kube.get(resource, object.metadata);
      if (found === null) throw new Error(`${object.kind} ${object.metadata.name} is gone`);
      const condition = conditionOf(found, 'Ready');
      if (condition?.status === 'True') return found;
      const why = condition?.message ?? 'nobody has looked at it';
      throw new Error(`${object.kind} ${object.metadata.name} is not ready: ${why}`);
    });
    return ready.catch(async (error: unknown) => {
      const parts = await this.pods('', 'knative-eventing');
      throw new Error(`${String(error)}; ${restartsOf(parts)}`, { cause: error });
    });
  }

  async pods(labelSelector: string, namespace = this.namespace): Promise<readonly KubeObject[]> {
    const ref = { group: '', version: 'v1', resource: 'pods' };
    return (await this.kube.list(ref, { namespace, labelSelector })).items;
  }

  /** Ends pods at once, as a lost node would; their uids. */
  async kill(labelSelector: string, namespace = this.namespace): Promise<readonly string[]> {
    const pods = await this.pods(labelSelector, namespace);
    if (pods.length === 0) throw new Error(`there is no pod with ${labelSelector}`);
    const ref = { group: '', version: 'v1', resource: 'pods' };
    return Promise.all(
      pods.map(async ({ metadata: { uid, name } }) => {
        await this.kube.delete(ref, { namespace, name }, { uid }, { gracePeriodSeconds: 0 });
        return uid;
      }),
    );
  }

  /** Pods of a service that are not on their way out. */
  async instances(service: string): Promise<number> {
    const pods = await this.pods(`serving.knative.dev/service=${service}`);
    return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;
  }

  /** As anybody outside of the cluster calls a service. */
  async call(service: string, headers: Record<string, string> = {}, body = ''): Promise<Answer> {
    const host = `${service}.${this.namespace}.${KNATIVE_DOMAIN}`;
    const method = body === '' ? 'GET' : 'POST';
    return send(`http://${this.#gateways.external}/`, method, { ...headers, host }, body);
  }

  /** The gateway to which the names of our functions lead within the cluster. */
  get inside(): string {
    return this.#gateways.internal;
  }

  /** As somebody in the cluster calls one of our functions, which hide in it. */
  async callFunction(
    name: string,
    headers: Record<string, string> = {},
    body = '',
  ): Promise<Answer> {
    const host = `${name}.ballast-system.svc.cluster.local`;
    const method = body === '' ? 'GET' : 'POST';
    return send(`http://${this.#gateways.internal}/`, method, { ...headers, host }, body);
  }

  /**
   * As the PingSource of one of our functions sends it, and without waiting for its minute. It
   * resolves whatever comes of it: a test that waits for what a sweep does sends another.
   */
  async tick(name: string): Promise<void> {
    const event = binaryEvent('dev.knative.sources.ping', randomUUID());
    await this.callFunction(name, event, '{}').catch(() => undefined);
  }

  /** As a source sends to a broker, of this namespace or `namespace/name`. */
  async send(broker: string, headers: Record<string, string>, body: string): Promise<Answer> {
    const address = await this.addressOf('knative-eventing', 'broker-ingress');
    const path = broker.includes('/') ? broker : `${this.namespace}/${broker}`;
    return send(`http://${address}/${path}`, 'POST', headers, body);
  }

  /** As the token that Knative mounts for a sender; whose it is and whom it is for. */
  async token(namespace: string, account: string, audience: string): Promise<string> {
    const ref = { group: '', version: 'v1', resource: 'serviceaccounts' };
    const target = { namespace, name: account, subresource: 'token' } as const;
    const tokenRequest = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [audience] },
    };
    const { status } = await this.kube.createSubresource(ref, target, tokenRequest);
    return String(Object(status).token);
  }

  /** Services are reached from this machine, too. */
  async addressOf(namespace: string, name: string): Promise<string> {
    const ref = { group: '', version: 'v1', resource: 'services' };
    const service = await this.kube.get(ref, { namespace, name });
    return String(Object(service?.['spec']).clusterIP);
  }

  /** The requests that a service of the test's function has got since its pod was started. */
  async seen(service: string): Promise<readonly Seen[]> {
    const { statusCode, text } = await this.call(service);
    if (statusCode !== 200) throw new Error(`${service} answers ${statusCode}: ${text}`);
    // The lines that echo-server.ts writes.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return JSON.parse(text) as readonly Seen[];
  }

  async #resourceFor({ apiVersion, kind }: Manifest): Promise<DiscoveredResource> {
    const resource = await this.kube.resourceFor(apiVersion, kind);
    if (resource === undefined) throw new Error(`the API server has no ${apiVersion} ${kind}`);
    return resource;
  }
}

export function conditionOf(object: KubeObject, type: string): Condition | undefined {
  // Knative's kinds have Kubernetes' conditions.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { conditions = [] } = (object['status'] ?? {}) as { conditions?: readonly Condition[] };
  return conditions.find((condition) => condition.type === type);
}

/** A part of Knative that has ended is the first thing to look at when nothing gets ready. */
function restartsOf(pods: readonly KubeObject[]): string {
  const restarts = pods.flatMap((pod) => {
    // Kubernetes' own kind.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { containerStatuses = [] } = (pod['status'] ?? {}) as {
      containerStatuses?: readonly { restartCount: number; ready: boolean }[];
    };
    return containerStatuses
      .filter(({ restartCount, ready }) => restartCount > 0 || !ready)
      .map(({ restartCount: count }) => `${pod.metadata.name} was restarted ${count} times`);
  });
  return restarts.length === 0 ? 'no part of Knative was restarted' : restarts.join(', ');
}

async function send(
  url: string,
  method: 'GET' | 'POST',
  headers: Record<string, string>,
  body: string,
): Promise<Answer> {
  const answer = await request(url, {
    method,
    headers,
    ...(body === '' ? {} : { body }),
    headersTimeout: REQUEST_TIMEOUT_MS,
  });
  return {
    statusCode: answer.statusCode,
    contentType: String(answer.headers['content-type'] ?? ''),
    text: await answer.body.text(),
  };
}
