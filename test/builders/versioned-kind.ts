// A kind of two versions, v1alpha1 and v1, with objects stored in the old one: where every
// migration of stored versions starts from.
import { inParallel } from '../../knative/try/local/cluster/in-parallel.ts';
import type { PlaneAddress } from '../../knative/try/local/plane/address.ts';
import { systemClock } from '../../shared/clock.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { CRDS } from '../../shared/kube/crds.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject, Manifest, ResourceRef } from '../../shared/kube/objects.ts';
import { storedObject, storedObjects } from './etcd-values.ts';

export const OLD = 'v1alpha1';
export const CURRENT = 'v1';
export type KindVersion = typeof OLD | typeof CURRENT;

export const GROUP = 'migrate.example.com';
export const NAMESPACE = 'default';
/** The field that has another name in each version, where a webhook converts. */
export const COLOR_FIELD: Readonly<Record<KindVersion, string>> = {
  [OLD]: 'colour',
  [CURRENT]: 'color',
};
/** The same for both versions, so that none prunes what the other knows. */
const SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        color: { type: 'string' },
        colour: { type: 'string' },
        payload: { type: 'string' },
        extra: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
};
/** The client opens no more connections than that. */
const IN_FLIGHT_MAX = 8;
/** Often at first; each question costs the API server as much as a look of a function. */
const ASK_FIRST_MS = 50;
const ASK_LATER_MS = 250;
const ASK_GROWTH = 1.25;
/** A migration on a machine that does half as much at once took twenty seconds. */
const WITHIN_MS = 90_000;

/** The `conversion` of a CRD. */
export type Conversion =
  | { readonly strategy: 'None' }
  | { readonly strategy: 'Webhook'; readonly webhook: Readonly<Record<string, unknown>> };

export interface Definition extends KubeObject {
  readonly status: { readonly storedVersions: readonly string[] };
}

export const oldName = (index: number): string => `old-${String(index).padStart(5, '0')}`;

export class VersionedKind {
  readonly plural: string;
  readonly crdName: string;
  readonly #plane: PlaneAddress;
  readonly #kube: KubeClient;
  readonly #conversion: Conversion;

  /** `plural` ends in `s`. */
  constructor(
    plane: PlaneAddress,
    kube: KubeClient,
    plural: string,
    conversion: Conversion = { strategy: 'None' },
  ) {
    this.#plane = plane;
    this.#kube = kube;
    this.plural = plural;
    this.crdName = `${plural}.${GROUP}`;
    this.#conversion = conversion;
  }

  ref(version: KindVersion = CURRENT): ResourceRef {
    return { group: GROUP, version, resource: this.plural };
  }

  /** The kind with so many objects in the old version, though the new one is current. */
  async fill(count: number, payloadBytes = 0): Promise<void> {
    await this.define(OLD);
    await this.createOld(count, payloadBytes);
    await this.flip();
  }

  /** Returns when both versions are served. */
  async define(storage: KindVersion): Promise<void> {
    await this.#kube.apply(CRDS, this.#definition(storage), { force: true });
    for (const version of [OLD, CURRENT] as const) {
      await until(`${this.crdName} to be served`, () => this.#isServed(version));
    }
  }

  async createOld(count: number, payloadBytes = 0): Promise<void> {
    const names = Array.from({ length: count }, (_, index) => oldName(index));
    await inParallel(names, IN_FLIGHT_MAX, (name) =>
      this.#kube.create(this.ref(OLD), this.object(OLD, name, payloadBytes)),
    );
  }

  async createMore(version: KindVersion, name: string): Promise<void> {
    await this.#kube.create(this.ref(version), this.object(version, name));
  }

  /** Makes it the storage version; returns when what is written is really stored in it. */
  async flip(storage: KindVersion = CURRENT): Promise<void> {
    await this.#kube.apply(CRDS, this.#definition(storage), { force: true });
    // The write path notices some time after the definition is stored.
    const settled = `${GROUP}/${storage}`;
    const isSettled = async () => (await this.touch('settling')) === settled;
    await until(`${this.crdName} to be stored as ${storage}`, isSettled);
  }

  /** Takes a version out of the definition, as its owner would. */
  async remove(version: KindVersion): Promise<void> {
    const manifest = this.#definition(
      CURRENT,
      ([OLD, CURRENT] as const).filter((one) => one !== version),
    );
    await this.#kube.apply(CRDS, manifest, { force: true });
  }

  /** Returns when a list of the kind fails, since something is stored that cannot be read. */
  async becomesUnreadable(): Promise<void> {
    await until(`lists of ${this.crdName} to fail`, async () => {
      try {
        await this.#kube.list(this.ref(), { limit: 1, isOnce: true });
        return false;
      } catch (error) {
        if (isKubeError(error, 'KUBE_THROTTLED', 'KUBE_UNAVAILABLE')) return true;
        throw error;
      }
    });
  }

  /** Creates an object and deletes it again; answers the apiVersion in which it was stored. */
  async touch(name: string): Promise<string | undefined> {
    const { object } = await this.#kube.create(this.ref(), this.object(CURRENT, name));
    const stored = await storedObject(this.#plane, GROUP, this.plural, `${NAMESPACE}/${name}`);
    await this.#kube.delete(this.ref(), { namespace: NAMESPACE, name }, object.metadata);
    return stored?.apiVersion;
  }

  /** The objects in etcd, by name. */
  async stored(): Promise<ReadonlyMap<string, KubeObject>> {
    const all = await storedObjects(this.#plane, GROUP, this.plural);
    return new Map([...all].map(([key, object]) => [key.split('/')[1] ?? '', object]));
  }

  async read(): Promise<Definition> {
    const found = await this.#kube.get(CRDS, { name: this.crdName });
    if (found === null) throw new Error(`${this.crdName} is not there`);
    return found as Definition;
  }

  object(version: KindVersion, name: string, payloadBytes = 0): Manifest {
    const color = COLOR_FIELD[this.#conversion.strategy === 'None' ? CURRENT : version];
    return {
      apiVersion: `${GROUP}/${version}`,
      kind: this.kind,
      metadata: { name, namespace: NAMESPACE },
      spec: { [color]: 'blue', payload: 'x'.repeat(payloadBytes), extra: { kept: name } },
    };
  }

  get kind(): string {
    return `${this.plural.charAt(0).toUpperCase()}${this.plural.slice(1, -1)}`;
  }

  async #isServed(version: KindVersion): Promise<boolean> {
    try {
      await this.#kube.list(this.ref(version), { limit: 1 });
      return true;
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return false;
      throw error;
    }
  }

  #definition(storage: KindVersion, versions: readonly KindVersion[] = [OLD, CURRENT]): Manifest {
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: this.crdName },
      spec: {
        group: GROUP,
        scope: 'Namespaced',
        names: { plural: this.plural, kind: this.kind },
        conversion: this.#conversion,
        versions: versions.map((name) => ({
          name,
          served: true,
          storage: name === storage,
          schema: { openAPIV3Schema: SCHEMA },
        })),
      },
    };
  }
}

/** Asks until it is so. */
export async function until(
  awaited: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = WITHIN_MS,
): Promise<void> {
  const endsAtMs = systemClock.nowMs() + withinMs;
  let pauseMs = ASK_FIRST_MS;
  while (!(await isSo())) {
    if (systemClock.nowMs() > endsAtMs) throw new Error(`waited ${withinMs} ms for ${awaited}`);
    await systemClock.sleep(pauseMs);
    pauseMs = Math.min(pauseMs * ASK_GROWTH, ASK_LATER_MS);
  }
}
