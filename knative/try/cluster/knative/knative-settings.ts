// Knative's own settings on a local cluster: Kourier as the ingress, a domain that only this
// machine knows, and gateways whose addresses are known beforehand.
import type { Manifest } from '../../../../shared/kube/objects.ts';

/**
 * A service is `<name>.<namespace>.` and this. Names below `localhost` lead to this machine without
 * being looked up; Serving wants two words at least.
 */
export const KNATIVE_DOMAIN = 'knative.localhost';

/** Where requests from outside of the cluster, and those to services that hide in it, come in. */
export interface Gateways {
  readonly external: string;
  readonly internal: string;
}

/** In the band of a service network that Kubernetes gives out last by itself. */
const EXTERNAL_HOST = 80;
const INTERNAL_HOST = 81;

/** `A.B.C.0/n`, as the API server is told it. */
export function gatewaysIn(serviceCidr: string): Gateways {
  const network = serviceCidr.replace(/\.0\/\d+$/, '');
  return { external: `${network}.${EXTERNAL_HOST}`, internal: `${network}.${INTERNAL_HOST}` };
}

type Data = Readonly<Record<string, string>>;

/**
 * Each controller runs once. Its lease is renewed more seldom than by default: fifty of them every
 * ten seconds were half of what an idle cluster asked of its API server. It does not last long all
 * the same: after a controller is killed by force, nobody reconciles until it has run out.
 */
const ELECTION: Data = {
  'lease-duration': '60s',
  'renew-deadline': '40s',
  'retry-period': '20s',
};

const settings: Readonly<Record<string, Data>> = {
  'knative-serving/config-network': { 'ingress-class': 'kourier.ingress.networking.knative.dev' },
  'knative-serving/config-domain': { [KNATIVE_DOMAIN]: '' },
  'knative-serving/config-leader-election': ELECTION,
  'knative-eventing/config-leader-election': ELECTION,
  // A revision may come without a pod, if it says so.
  'knative-serving/config-autoscaler': { 'allow-zero-initial-scale': 'true' },
  // Beside every function; during a rollout there are two of each, and two cores have to do.
  'knative-serving/config-deployment': { 'queue-sidecar-cpu-request': '5m' },
};

/** A checksum of the example that goes with it; without the example it would be wrong. */
const CHECKSUM = 'knative.dev/example-checksum';
const EXAMPLE = '_example';

export function settingsFor(object: Manifest, gateways: Gateways): Manifest {
  if (object.kind === 'ConfigMap') return configured(object);
  if (isService(object, 'kourier')) return withAddress(object, gateways.external);
  if (isService(object, 'kourier-internal')) return withAddress(object, gateways.internal);
  return object;
}

function configured(object: Manifest): Manifest {
  const { annotations, ...metadata } = object.metadata;
  const own = settings[`${metadata.namespace ?? ''}/${metadata.name}`];
  return {
    ...object,
    metadata: { ...metadata, annotations: without(annotations, CHECKSUM) },
    data: { ...without(object['data'], EXAMPLE), ...own },
  };
}

function without(fields: unknown, name: string): Readonly<Record<string, unknown>> {
  const entries = Object.entries(fields ?? {}).filter(([key]) => key !== name);
  return Object.fromEntries(entries);
}

function isService({ kind, metadata }: Manifest, name: string): boolean {
  return kind === 'Service' && metadata.namespace === 'kourier-system' && metadata.name === name;
}

/** Nobody hands out load balancers here. */
function withAddress(object: Manifest, clusterIP: string): Manifest {
  return { ...object, spec: { ...Object(object['spec']), type: 'ClusterIP', clusterIP } };
}
