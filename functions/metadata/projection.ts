// What the feed shows of an object: who it is, where it runs, how it is; never its environment,
// annotations or data.
import type { KubeObject } from '../../shared/kube/objects.ts';

export const KINDS = ['Pod', 'Node'] as const;
export type Kind = (typeof KINDS)[number];

export const isKind = (value: unknown): value is Kind => KINDS.some((kind) => kind === value);

export interface Projection {
  readonly kind: Kind;
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner?: { readonly kind: string; readonly name: string; readonly uid: string };
  readonly node?: string;
  readonly phase?: string;
  readonly ready: boolean;
  readonly ips: readonly string[];
  readonly containers?: readonly ContainerProjection[];
}

export interface ContainerProjection {
  readonly name: string;
  readonly image: string;
  readonly id?: string;
  readonly ready: boolean;
}

/**
 * The parts of a Pod and of a Node that are read here; the API server may leave out any of them.
 */
interface PodFields {
  readonly spec?: { nodeName?: string; containers?: readonly { name: string; image?: string }[] };
  readonly status?: {
    phase?: string;
    podIPs?: readonly { ip: string }[];
    conditions?: readonly Condition[];
    containerStatuses?: readonly { name: string; containerID?: string; ready?: boolean }[];
  };
}
interface NodeFields {
  readonly status?: {
    addresses?: readonly { type: string; address: string }[];
    conditions?: readonly Condition[];
  };
}
interface Condition {
  readonly type: string;
  readonly status: string;
}

export function projectPod(pod: KubeObject): Projection {
  const { spec, status } = pod as KubeObject & PodFields;
  const statuses = new Map(status?.containerStatuses?.map((entry) => [entry.name, entry]));
  const containers = (spec?.containers ?? []).map(({ name, image = '' }) => {
    const { containerID: id, ready = false } = statuses.get(name) ?? {};
    return { name, image, ...(id === undefined ? {} : { id }), ready };
  });
  return {
    kind: 'Pod',
    ...identity(pod),
    ...(spec?.nodeName === undefined ? {} : { node: spec.nodeName }),
    ...(status?.phase === undefined ? {} : { phase: status.phase }),
    ready: isReady(status?.conditions),
    ips: (status?.podIPs ?? []).map(({ ip }) => ip),
    containers,
  };
}

export function projectNode(node: KubeObject): Projection {
  const { status } = node as KubeObject & NodeFields;
  const isIp = (type: string): boolean => type === 'InternalIP' || type === 'ExternalIP';
  const ips = (status?.addresses ?? [])
    .filter(({ type }) => isIp(type))
    .map(({ address }) => address);
  return { kind: 'Node', ...identity(node), ready: isReady(status?.conditions), ips };
}

function identity({ metadata }: KubeObject): Omit<Projection, 'kind' | 'ready' | 'ips'> {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return {
    name: metadata.name,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    labels: metadata.labels ?? {},
    ...(owner === undefined
      ? {}
      : { owner: { kind: owner.kind, name: owner.name, uid: owner.uid } }),
  };
}

function isReady(conditions: readonly Condition[] | undefined): boolean {
  return conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}
