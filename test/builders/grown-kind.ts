// A kind whose definition changes from version to version, as its owner would change it: what is in
// it, what is served, what is stored, and with which fields.
import type { PlaneAddress } from '../../knative/try/local/plane/address.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { CRDS } from '../../shared/kube/crds.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject, Manifest, ResourceRef } from '../../shared/kube/objects.ts';
import { storedObjects } from './etcd-values.ts';
import { GROUP, until } from './versioned-kind.ts';

export interface KindVersionOf {
  readonly name: string;
  /** True when absent. */
  readonly isServed?: boolean;
  readonly isStored?: boolean;
  /** Fields of `spec`; any field is kept when absent. */
  readonly fields?: readonly string[];
}

export interface KindShape {
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly annotations?: Readonly<Record<string, string>>;
  readonly subresources?: object;
}

const ANY = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;

export class GrownKind {
  readonly plural: string;
  readonly crdName: string;
  readonly #plane: PlaneAddress;
  readonly #kube: KubeClient;
  readonly #shape: KindShape;

  /** `plural` ends in `s`. */
  constructor(plane: PlaneAddress, kube: KubeClient, plural: string, shape: KindShape = {}) {
    this.#plane = plane;
    this.#kube = kube;
    this.#shape = shape;
    this.plural = plural;
    this.crdName = `${plural}.${GROUP}`;
  }

  ref(version: string): ResourceRef {
    return { group: GROUP, version, resource: this.plural };
  }

  /** Returns when all of it is in force, also for what is written. */
  async define(...versions: readonly KindVersionOf[]): Promise<void> {
    await this.#kube.apply(CRDS, this.#definition(versions), { force: true });
    const [first] = versions.filter(({ isServed = true }) => isServed);
    const stored = `${GROUP}/${versions.find(({ isStored }) => isStored)?.name}`;
    if (first === undefined) return;
    await until(`${this.crdName} to be stored as ${stored}`, async () => {
      try {
        return (await this.#touch(first.name)) === stored;
      } catch (error) {
        if (isKubeError(error, 'KUBE_NOT_FOUND')) return false;
        throw error;
      }
    });
  }

  async create(version: string, name: string, more: object = {}): Promise<KubeObject> {
    const { object } = await this.#kube.create(
      this.ref(version),
      this.#object(version, name, more),
    );
    return object;
  }

  /** The objects in etcd, by `namespace/name`, or by name. */
  stored(): Promise<ReadonlyMap<string, KubeObject>> {
    return storedObjects(this.#plane, GROUP, this.plural);
  }

  async storedVersions(): Promise<readonly string[]> {
    const crd = await this.#kube.get(CRDS, { name: this.crdName });
    const status = crd?.['status'] as { readonly storedVersions: readonly string[] } | undefined;
    return status?.storedVersions ?? [];
  }

  #object(version: string, name: string, more: object): Manifest {
    const place = this.#shape.scope === 'Cluster' ? { name } : { name, namespace: 'default' };
    const { metadata, ...rest } = more as { readonly metadata?: object };
    return {
      apiVersion: `${GROUP}/${version}`,
      kind: this.#kind,
      metadata: { ...place, ...metadata },
      ...rest,
    };
  }

  /** Creates an object and deletes it again; answers the apiVersion in which it was stored. */
  async #touch(version: string): Promise<unknown> {
    const { metadata } = await this.create(version, 'settling');
    const { name, namespace, uid } = metadata;
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    const stored = (await this.stored()).get(key)?.apiVersion;
    const place = namespace === undefined ? { name } : { name, namespace };
    await this.#kube.delete(this.ref(version), place, { uid });
    return stored;
  }

  get #kind(): string {
    return `${this.plural.charAt(0).toUpperCase()}${this.plural.slice(1, -1)}`;
  }

  #definition(versions: readonly KindVersionOf[]): Manifest {
    const { scope = 'Namespaced', annotations = {}, subresources } = this.#shape;
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: this.crdName, annotations },
      spec: {
        group: GROUP,
        scope,
        names: { plural: this.plural, kind: this.#kind },
        versions: versions.map(({ name, isServed = true, isStored = false, fields }) => ({
          name,
          served: isServed,
          storage: isStored,
          schema: { openAPIV3Schema: schemaOf(fields) },
          ...(subresources === undefined ? {} : { subresources }),
        })),
      },
    };
  }
}

function schemaOf(fields: readonly string[] | undefined): object {
  if (fields === undefined) return ANY;
  const properties = Object.fromEntries(fields.map((name) => [name, { type: 'string' }]));
  return { type: 'object', properties: { spec: { type: 'object', properties } } };
}
