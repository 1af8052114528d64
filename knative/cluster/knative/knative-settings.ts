// What Knative's own settings are on a cluster of our own making: Kourier as the ingress, a domain
// that only this machine knows, and a gateway that is reached by a port of the node.
import type { Manifest } from '../../../shared/kube/objects.ts';

/**
 * A service is `<name>.<namespace>.` and this. Names below `localhost` lead to this machine without
 * being looked up; Serving wants two words at least.
 */
export const KNATIVE_DOMAIN = 'knative.localhost';

/** Of the range that Kubernetes gives to node ports. */
export const INGRESS_NODE_PORT = 31_080;

type Data = Readonly<Record<string, string>>;

const settings: Readonly<Record<string, Data>> = {
  'knative-serving/config-network': { 'ingress-class': 'kourier.ingress.networking.knative.dev' },
  'knative-serving/config-domain': { [KNATIVE_DOMAIN]: '' },
};

/** A checksum of the example that goes with it; without the example it would be wrong. */
const CHECKSUM = 'knative.dev/example-checksum';
const EXAMPLE = '_example';

export function settingsFor(object: Manifest): Manifest {
  if (object.kind === 'ConfigMap') return configured(object);
  return isGatewayService(object) ? onNodePort(object) : object;
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

interface GatewayService extends Manifest {
  readonly spec: {
    readonly ports: readonly { readonly name: string }[];
    readonly [field: string]: unknown;
  };
}

function isGatewayService(object: Manifest): object is GatewayService {
  const { name, namespace } = object.metadata;
  return object.kind === 'Service' && namespace === 'kourier-system' && name === 'kourier';
}

function onNodePort(object: GatewayService): Manifest {
  const ports = object.spec.ports.map((port) =>
    port.name === 'http2' ? { ...port, nodePort: INGRESS_NODE_PORT } : port,
  );
  return { ...object, spec: { ...object.spec, type: 'NodePort', ports } };
}
