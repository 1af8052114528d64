// Kubernetes objects as the API server sends them: plain JSON, of which these types name only the
// parts that are read here. Whatever they do not name is carried along untouched.

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly [field: string]: unknown;
}

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: unknown;
  readonly [field: string]: unknown;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
  readonly [field: string]: unknown;
}

/** An object that the API server has. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** Deleted, and somebody's finalizer holds it up. */
export const isEnding = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined;

/** An object on its way to the API server, which fills in what is missing. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** A manifest whose name the API server makes up. */
export interface NamelessManifest extends Omit<Manifest, 'metadata'> {
  readonly metadata: {
    readonly name?: undefined;
    readonly generateName: string;
    readonly namespace?: string;
    readonly [field: string]: unknown;
  };
}

/** An update starts from this: the object as it was read. */
export interface VersionedManifest extends Manifest {
  readonly metadata: Manifest['metadata'] & { readonly resourceVersion: string };
}

export interface KubeList {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
    readonly [field: string]: unknown;
  };
  readonly items: readonly KubeObject[];
  /** Objects in the place of which nothing was read but who they are. */
  readonly tooLarge?: readonly KubeObject[];
}

/** A kind of resource by its place in the API. `resource` is the plural, in lower case. */
export interface ResourceRef {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** As objects have it. */
export const apiVersionOf = ({ group, version }: ResourceRef): string =>
  group === '' ? version : `${group}/${version}`;

/** One object of a resource; without namespace for cluster-scoped resources. */
export interface ObjectName {
  readonly namespace?: string;
  readonly name: string;
  /** `status`, `scale`, `token`, ... */
  readonly subresource?: string;
}

export interface DiscoveredResource extends ResourceRef {
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly verbs: readonly string[];
}
