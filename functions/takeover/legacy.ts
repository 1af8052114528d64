// The EtcdCluster of an etcd operator as it was read, whichever operator that is, and the names of
// what was made for it. Its definition may have no schema, so that anything may stand in any field:
// what has another shape than the operator takes counts as absent. The folder `legacy/` has what
// differs from one operator to another. Pure.
import { isRecord } from '../../shared/kube/json.ts';
import type { KubeObject, ResourceRef } from '../../shared/kube/objects.ts';

/** Alike for all kinds. */
export interface LegacyObject {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly isEnding: boolean;
  /** It stays until all of them are taken off. */
  readonly finalizers: readonly string[];
  readonly spec: Readonly<Record<string, unknown>>;
  readonly size: number | undefined;
}

export interface LegacyEtcd extends LegacyObject {
  readonly resourceVersion: string;
  /** Clients connect to it. */
  readonly clientService: string;
  /** Gives the members their names in DNS. */
  readonly headlessService: string;
  /** By which pods and claims are listed. */
  readonly selector: string;
  /** The one of the labels whose value is the name of the object. */
  readonly label: string;
  /** The labels that its Services select by. */
  readonly labels: Readonly<Record<string, string>>;
  /** It has the pods, and starts them again; undefined where they are bare. */
  readonly statefulSet: string | undefined;
  readonly peers: LegacyPeers | undefined;
  readonly tls: LegacyTls | undefined;
  /** An operator of all namespaces looks after it, so that it need not be in this one. */
  readonly isClusterwide: boolean;
}

/** Objects that each have a pod, by a ReplicaSet that starts it again. */
export interface LegacyPeers {
  readonly ref: ResourceRef;
  /** Its operator deletes the claim before it takes this off an object that is to go. */
  readonly finalizer: string;
}

/** Names of Secrets, and of what is in them. Clients connect over TLS. */
export interface LegacyTls {
  /** The certificate of members. */
  readonly serverSecret: string;
  readonly served: string;
  /** The authority whose clients they let in; perhaps in the same Secret. */
  readonly trustSecret: string;
  readonly trusted: string;
  /** With which the operator connects, as a client, and the field that names it. */
  readonly operatorSecret: string;
  readonly namedIn: string;
  readonly keys: {
    readonly certificate: string;
    readonly key: string;
    readonly authority: string;
  };
}

/** `size` where the object has no field of that name. */
export function legacyOf(
  object: KubeObject,
  sizeMax: number,
  sizeIn: (spec: Readonly<Record<string, unknown>>) => unknown = ({ size }) => size,
): LegacyObject {
  const { name, namespace = '', uid, deletionTimestamp, finalizers = [] } = object.metadata;
  const spec = isRecord(object['spec']) ? object['spec'] : {};
  const size = sizeIn(spec);
  const isSize = Number.isInteger(size) && Number(size) > 0 && Number(size) <= sizeMax;
  return {
    name,
    namespace,
    uid,
    isEnding: deletionTimestamp !== undefined,
    finalizers,
    spec,
    size: isSize ? Number(size) : undefined,
  };
}

export function fieldOf(
  fields: Readonly<Record<string, unknown>>,
  name: string,
): Readonly<Record<string, unknown>> {
  const value = fields[name];
  return isRecord(value) ? value : {};
}

/** Clients and members know it by the same one. */
export const isOneService = ({ clientService, headlessService }: LegacyEtcd): boolean =>
  clientService === headlessService;

/** The name of a member, for which its certificate is. */
export const memberHostOf = ({ headlessService, namespace }: LegacyEtcd, pod: string): string =>
  `${pod}.${headlessService}.${namespace}.svc`;

export const clientHostOf = ({
  clientService,
  namespace,
}: Pick<LegacyEtcd, 'clientService' | 'namespace'>): string => `${clientService}.${namespace}.svc`;
