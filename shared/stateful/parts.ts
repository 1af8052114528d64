// The objects of which servers in pods consist: as they are rendered for their owner, whether they
// are his, and whether they are still as rendered. Pure.
import { hashOf } from '../hash.ts';
import type { Reason } from '../kube/conditions.ts';
import { isRecord } from '../kube/json.ts';
import type { KubeObject, Manifest, ResourceRef } from '../kube/objects.ts';
import { quantityOf } from '../kube/quantity.ts';
import { storageIn } from './claim-template.ts';

const core = (resource: string): ResourceRef => ({ group: '', version: 'v1', resource });

export const SECRETS = core('secrets');
export const SERVICES = core('services');
export const PODS = core('pods');
export const CLAIMS = core('persistentvolumeclaims');
export const STATEFUL_SETS = { group: 'apps', version: 'v1', resource: 'statefulsets' } as const;
export const NETWORK_POLICIES = {
  group: 'networking.k8s.io',
  version: 'v1',
  resource: 'networkpolicies',
} as const;
export const BUDGETS = {
  group: 'policy',
  version: 'v1',
  resource: 'poddisruptionbudgets',
} as const;

/** On parts: the hash of the body as it was rendered last. */
export const HASH_ANNOTATION = 'ballast.dev/rendered';

/** The custom resource whose parts they are; they are deleted with it. */
export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** Labels of its parts. */
  readonly labels: Readonly<Record<string, string>>;
}

/** A part that is applied and kept as rendered. */
export interface RenderedPart<Key extends string> {
  readonly key: Key;
  readonly ref: ResourceRef;
  readonly manifest: Manifest;
}

/** The part of an object that is kept: others may have written anything else into it. */
export interface FoundPart {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Set for a StatefulSet alone. */
  readonly replicas?: number;
  /** The size of the claims that the StatefulSet makes. */
  readonly storage?: string | undefined;
}

/** Renders an object that is deleted with its owner. */
export function owned(
  { labels, namespace, ...owner }: Owner,
  apiVersion: string,
  kind: string,
  name: string,
  body: Readonly<Record<string, unknown>>,
): Manifest {
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      labels,
      annotations: { [HASH_ANNOTATION]: hashOf(body) },
      ownerReferences: [{ ...owner, controller: true }],
    },
    ...body,
  };
}

/** A port of a Service, under the name that it has in the pods. */
export const servicePort = (name: string, number: number) => ({
  name,
  port: number,
  targetPort: name,
  protocol: 'TCP',
});

/** False for an object of somebody else, and of a former owner of the same name. */
export const isOurs = ({ metadata }: KubeObject, { uid }: Pick<Owner, 'uid'>): boolean =>
  (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);

export const nameTaken = ({ kind, metadata }: KubeObject): Reason => ({
  reason: 'NameTaken',
  message:
    `${kind} ${metadata.name} is there already and is not ours; delete it, or choose another ` +
    'name.',
});

/** Little is kept: anybody with rights in the namespace may write a megabyte into each part. */
export function foundPartOf(object: KubeObject): FoundPart {
  const { kind, metadata, spec } = object;
  const { uid, resourceVersion } = metadata;
  if (kind !== 'StatefulSet') return { uid, resourceVersion };
  const replicas = isRecord(spec) ? spec['replicas'] : undefined;
  return {
    uid,
    resourceVersion,
    ...(typeof replicas === 'number' ? { replicas } : {}),
    storage: storageIn(object),
  };
}

export function isAsRendered(
  { manifest }: Pick<RenderedPart<string>, 'manifest'>,
  found: KubeObject | null,
): boolean {
  if (found === null) return false;
  const wanted = manifest.metadata['annotations'];
  const hash = isRecord(wanted) ? wanted[HASH_ANNOTATION] : undefined;
  if (found.metadata.annotations?.[HASH_ANNOTATION] !== hash) return false;
  const { metadata: _, ...body } = manifest;
  return holds(found, body);
}

/** True when every wanted field has its value; fields that others added do not count. */
function holds(found: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(found) || found.length !== wanted.length) return false;
    return wanted.every((item, index) => holds(found[index], item));
  }
  if (isRecord(wanted)) {
    if (!isRecord(found)) return false;
    return Object.entries(wanted).every(([name, value]) => holds(found[name], value));
  }
  return found === wanted || isSameAmount(found, wanted);
}

/** The API server writes 1024Mi as 1Gi. */
function isSameAmount(found: unknown, wanted: unknown): boolean {
  if (typeof found !== 'string' || typeof wanted !== 'string') return false;
  const amount = quantityOf(wanted);
  return Number.isFinite(amount) && quantityOf(found) === amount;
}
