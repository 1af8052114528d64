// The EtcdCluster of the etcd operator as it was read, and the names of what the operator made for
// it. Its definition has no schema, so that anything may stand in any field: what has another shape
// than the operator takes counts as absent. Pure.
import { isRecord, textOf } from '../../shared/kube/json.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';

/** Alike for both kinds. */
export interface LegacyObject {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly isEnding: boolean;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly size: number | undefined;
}

export interface LegacyEtcd extends LegacyObject {
  readonly resourceVersion: string;
  readonly tls: LegacyTls | undefined;
  /** An operator of all namespaces looks after it, so that it need not be in this one. */
  readonly isClusterwide: boolean;
}

/** Names of Secrets. */
interface LegacyTls {
  /** Clients connect over TLS. */
  readonly serverSecret: string;
  /** With which the operator connects, as a client. */
  readonly operatorSecret: string;
}

const SIZE_MAX = 7;

export function legacyEtcdOf(object: KubeObject): LegacyEtcd {
  const { resourceVersion, annotations = {} } = object.metadata;
  const legacy = legacyOf(object, SIZE_MAX);
  return {
    ...legacy,
    resourceVersion,
    tls: tlsIn(legacy.spec),
    isClusterwide: annotations['etcd.database.coreos.com/scope'] === 'clusterwide',
  };
}

export function legacyOf(object: KubeObject, sizeMax: number): LegacyObject {
  const { name, namespace = '', uid, deletionTimestamp } = object.metadata;
  const spec = isRecord(object['spec']) ? object['spec'] : {};
  const { size } = spec;
  const isSize = Number.isInteger(size) && Number(size) > 0 && Number(size) <= sizeMax;
  return {
    name,
    namespace,
    uid,
    isEnding: deletionTimestamp !== undefined,
    spec,
    size: isSize ? Number(size) : undefined,
  };
}

function tlsIn(spec: Readonly<Record<string, unknown>>): LegacyTls | undefined {
  const settings = fieldOf(fieldOf(spec, 'TLS'), 'static');
  const serverSecret = textOf(fieldOf(settings, 'member')['serverSecret']);
  const operatorSecret = textOf(settings['operatorSecret']);
  return serverSecret === '' ? undefined : { serverSecret, operatorSecret };
}

export function fieldOf(
  fields: Readonly<Record<string, unknown>>,
  name: string,
): Readonly<Record<string, unknown>> {
  const value = fields[name];
  return isRecord(value) ? value : {};
}

/** Clients connect to it. */
export const clientServiceOf = ({ name }: Pick<LegacyEtcd, 'name'>): string => `${name}-client`;

/** Gives the members their names in DNS. */
export const headlessServiceOf = ({ name }: Pick<LegacyEtcd, 'name'>): string => name;

/** On pods, Services and claims: the name of the object. */
export const LEGACY_LABEL = 'etcd_cluster';

/** The name of a member, for which its certificate is. */
export const memberHostOf = ({ name, namespace }: LegacyEtcd, pod: string): string =>
  `${pod}.${name}.${namespace}.svc`;

export const clientHostOf = (legacy: Pick<LegacyEtcd, 'name' | 'namespace'>): string =>
  `${clientServiceOf(legacy)}.${legacy.namespace}.svc`;
