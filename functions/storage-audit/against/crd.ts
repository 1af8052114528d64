// A CustomResourceDefinition as far as an upgrade of it is judged: read from a file, from etcd, or
// from the API server. The rest of it goes along untouched.
import { isRecord, textOf } from '../../../shared/kube/json.ts';
import type { GroupResource } from '../../../shared/stored/built-in.ts';

export interface Crd extends GroupResource {
  /** `metadata.name`. */
  readonly name: string;
  readonly scope: string;
  readonly names: CrdNames;
  readonly versions: readonly CrdVersion[];
  readonly storedVersions: readonly string[];
  readonly conversion: Conversion;
  readonly annotations: Readonly<Record<string, unknown>>;
  /** As it was sent. */
  readonly spec: Readonly<Record<string, unknown>>;
}

/** With what the API server fills in. */
export interface CrdNames {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
}

export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  /** Undefined where the CRD has none. */
  readonly schema: Readonly<Record<string, unknown>> | undefined;
}

export interface Conversion {
  readonly isWebhook: boolean;
  /** Undefined where no webhook converts, or one outside of the cluster. */
  readonly service: { readonly namespace: string; readonly name: string } | undefined;
  readonly hasAuthority: boolean;
}

export const CRD_KIND = 'CustomResourceDefinition';
export const CRD_GROUP = 'apiextensions.k8s.io';

/** Throws, with the end of a sentence that begins with its name, when it is none. */
export function crdOf(object: unknown): Crd {
  const { metadata, spec, status } = recordOf(object);
  const own = recordOf(spec);
  const group = textOf(own['group']);
  const names = namesOf(recordOf(own['names']));
  const versions = listOf(own['versions']).map(versionOf);
  const { storedVersions } = recordOf(status);
  const { name, annotations } = recordOf(metadata);
  if (group === '' || names.plural === '' || names.kind === '') {
    throw new Error('has no spec.group, spec.names.plural or spec.names.kind');
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    throw new Error('has not one version with storage: true');
  }
  return {
    group,
    resource: names.plural,
    name: textOf(name),
    scope: textOf(own['scope']),
    names,
    versions,
    storedVersions: listOf(storedVersions).map(textOf),
    conversion: conversionOf(recordOf(own['conversion'])),
    annotations: recordOf(annotations),
    spec: own,
  };
}

export const storageVersionOf = ({ versions }: Pick<Crd, 'versions'>): string =>
  versions.find(({ storage }) => storage)?.name ?? '';

export const versionNamed = ({ versions }: Crd, name: string): CrdVersion | undefined =>
  versions.find((version) => version.name === name);

function namesOf(names: Readonly<Record<string, unknown>>): CrdNames {
  const kind = textOf(names['kind']);
  return {
    plural: textOf(names['plural']),
    kind,
    singular: textOf(names['singular']) || kind.toLowerCase(),
    listKind: textOf(names['listKind']) || `${kind}List`,
    shortNames: listOf(names['shortNames']).map(textOf),
  };
}

function versionOf(version: unknown): CrdVersion {
  const { name, served, storage, schema } = recordOf(version);
  if (textOf(name) === '') throw new Error('has a version without a name');
  const { openAPIV3Schema } = recordOf(schema);
  return {
    name: textOf(name),
    served: served === true,
    storage: storage === true,
    schema: isRecord(openAPIV3Schema) ? openAPIV3Schema : undefined,
  };
}

function conversionOf(conversion: Readonly<Record<string, unknown>>): Conversion {
  const { clientConfig } = recordOf(conversion['webhook']);
  const { service, caBundle } = recordOf(clientConfig);
  const { namespace, name } = recordOf(service);
  const isWebhook = conversion['strategy'] === 'Webhook';
  const isNamed = isWebhook && isRecord(service);
  return {
    isWebhook,
    service: isNamed ? { namespace: textOf(namespace), name: textOf(name) } : undefined,
    hasAuthority: textOf(caBundle) !== '',
  };
}

export const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  isRecord(value) ? value : {};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
