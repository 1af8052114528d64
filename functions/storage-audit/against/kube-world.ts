// Reads what is there from the API server alone: how an object is stored it does not say, and it
// converts what it is asked for.
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { type Crd, crdOf, recordOf, storageVersionOf, versionNamed } from './crd.ts';
import type { Found, Present, Service, Take, WebhookState, World } from './world.ts';

const NAME = 'ballast-storage-audit';
const PAGE_OBJECTS = 500;
/** Definitions are large. */
const PAGE_CRDS = 20;
const SERVICES = { group: '', version: 'v1', resource: 'services' } as const;
const SLICES = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' } as const;
const NONE = { count: 0, examples: [] };

export class KubeWorld implements World {
  readonly of = { source: 'the API server' };
  readonly #kube: KubeClient;
  readonly #signal: AbortSignal | undefined;

  constructor(kubeconfigPath: string | undefined, signal: AbortSignal | undefined) {
    this.#kube = openKube({ kubeconfigPath, userAgent: NAME, fieldManager: NAME });
    this.#signal = signal;
  }

  async read(asked: readonly Crd[]): Promise<Present> {
    const names = new Set(asked.map(({ name }) => name));
    const crds = new Map<string, Found>();
    const others: Pick<Crd, 'name' | 'group' | 'names'>[] = [];
    const options = { limit: PAGE_CRDS, signal: this.#signal };
    for await (const { items } of this.#kube.pages(CRDS, options)) {
      for (const item of items) {
        const crd = crdOf(item);
        others.push({ name: crd.name, group: crd.group, names: crd.names });
        if (names.has(crd.name)) crds.set(crd.name, { crd, stored: await this.#stored(crd) });
      }
    }
    return { crds, others };
  }

  async objects(of: readonly Crd[], to: ReadonlyMap<string, Crd>, take: Take): Promise<void> {
    for (const crd of of) {
      const version = this.#versionToRead(crd, to.get(crd.name));
      if (version === undefined) take.unread(crd, 'all', 'no version of it is served');
      else await this.#objectsOf(crd, version, take);
    }
  }

  async webhook({ namespace, name }: Service): Promise<WebhookState> {
    try {
      const found = await this.#kube.get(SERVICES, { namespace, name }, { signal: this.#signal });
      if (found === null) return { lacks: 'is not there' };
      const labelSelector = `kubernetes.io/service-name=${name}`;
      const options = { namespace, labelSelector, signal: this.#signal };
      const { items } = await this.#kube.list(SLICES, options);
      return { lacks: items.some(hasReady) ? undefined : 'has no endpoint that is ready' };
    } catch (error) {
      if (isKubeError(error, 'KUBE_FORBIDDEN')) return { unknown: error.message };
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#kube.close();
  }

  async #stored(crd: Crd) {
    const rest = { byVersion: undefined, inFields: new Map(), hidden: NONE };
    const version = this.#versionToRead(crd, undefined);
    if (version === undefined) return { ...rest, objects: 0 };
    const ref = { group: crd.group, version, resource: crd.resource };
    const options = { limit: 1, metadataOnly: true, signal: this.#signal };
    try {
      const { items, metadata } = await this.#kube.list(ref, options);
      return { ...rest, objects: items.length + (metadata.remainingItemCount ?? 0) };
    } catch (error) {
      // A conversion webhook may be down: then reading the objects says so.
      if (isKubeError(error, 'KUBE_FORBIDDEN')) throw error;
      if (isKubeError(error)) return { ...rest, objects: 1 };
      throw error;
    }
  }

  /** That of the new storage version where it is served already, so that the webhook converts. */
  #versionToRead(crd: Crd, to: Crd | undefined): string | undefined {
    const wanted = [to && storageVersionOf(to), storageVersionOf(crd)];
    const isServed = (name: string | undefined): boolean =>
      name !== undefined && versionNamed(crd, name)?.served === true;
    return wanted.find(isServed) ?? crd.versions.find(({ served }) => served)?.name;
  }

  async #objectsOf(crd: Crd, version: string, take: Take): Promise<void> {
    const ref = { group: crd.group, version, resource: crd.resource };
    const options = { limit: PAGE_OBJECTS, onTooLarge: 'skim', signal: this.#signal } as const;
    try {
      for await (const { items, tooLarge = [] } of this.#kube.pages(ref, options)) {
        for (const object of tooLarge) take.unread(crd, nameOf(object), 'it is too large');
        for (const content of items) {
          await take.object(crd, { name: nameOf(content), version, content });
        }
      }
    } catch (error) {
      if (!isKubeError(error)) throw error;
      take.unread(crd, 'all', error.message);
    }
  }
}

function hasReady(slice: KubeObject): boolean {
  const endpoints: unknown = slice['endpoints'];
  if (!Array.isArray(endpoints)) return false;
  // Kubernetes takes an endpoint that does not say for one that is ready.
  return endpoints.some((one) => recordOf(recordOf(one)['conditions'])['ready'] !== false);
}

const nameOf = ({ metadata: { namespace, name } }: KubeObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`;
