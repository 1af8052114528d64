// Renders the parts of a cluster. Each carries a hash of itself, which shows later whether it is
// still as rendered, and belongs to the NatsCluster. Claims belong to nobody, so that data outlives
// the NatsCluster. Pure.
import type { Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import {
  BUDGETS,
  NETWORK_POLICIES,
  owned,
  type RenderedPart as RenderedPartOf,
  SECRETS,
  servicePort,
  SERVICES,
  STATEFUL_SETS,
} from '../../../shared/stateful/parts.ts';
import { CLIENT_PORT, type Cluster, headlessName, ROUTE_PORT } from '../cluster.ts';
import type { Credentials } from '../credentials.ts';
import { ownerOf } from '../owner.ts';
import { CONFIG_KEY, CONFIG_SUFFIX, type ConfigObject, configText, natsConfig } from './config.ts';
import { selectorOf } from './labels.ts';
import { networkPolicySpec } from './network-policy.ts';
import { type Shape, statefulSetSpec } from './stateful-set.ts';

/** The parts that are applied and kept as rendered, in the order in which they are made. */
export type PartKey =
  | 'config'
  | 'headless'
  | 'service'
  | 'budget'
  | 'networkPolicy'
  | 'statefulSet';

export type RenderedPart = RenderedPartOf<PartKey>;

export interface Rendered {
  readonly config: ConfigObject;
  readonly parts: readonly RenderedPart[];
  /** Hash of the pod template: a pod with another one has to be made anew. */
  readonly templateHash: string;
}

export function render(cluster: Cluster, credentials: Credentials, shape: Shape): Rendered {
  const config = natsConfig(cluster, credentials);
  const { spec, templateHash } = statefulSetSpec(cluster, config, shape);
  const owner = ownerOf(cluster);
  const part = (key: PartKey, ref: ResourceRef, manifest: Manifest): RenderedPart => ({
    key,
    ref,
    manifest,
  });
  return {
    config,
    templateHash,
    parts: [
      part('config', SECRETS, configSecret(cluster, credentials, config)),
      part('headless', SERVICES, headlessService(cluster)),
      part('service', SERVICES, clientService(cluster)),
      part('budget', BUDGETS, budget(cluster)),
      // An existing policy stays when the spec says None: its user may want to keep it.
      ...(cluster.spec.networkPolicy === 'None'
        ? []
        : [part('networkPolicy', NETWORK_POLICIES, networkPolicy(cluster))]),
      // The size is no part of the hash: a scaled StatefulSet is still as rendered.
      part('statefulSet', STATEFUL_SETS, {
        ...owned(owner, 'apps/v1', 'StatefulSet', cluster.name, { spec: { ...spec, replicas: 0 } }),
        spec,
      }),
    ],
  };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/**
 * Certificates are in the same Secret as the file that names them, so the kubelet updates all at
 * once.
 */
function configSecret(
  cluster: Cluster,
  { certificates }: Credentials,
  config: ConfigObject,
): Manifest {
  const files = Object.entries(certificates).flatMap(([listener, { certificate, key, ca }]) => [
    [`${listener}.crt`, base64(certificate)],
    [`${listener}.key`, base64(key)],
    [`${listener}-ca.crt`, base64(ca)],
  ]);
  const data = { [CONFIG_KEY]: base64(configText(config)), ...Object.fromEntries(files) };
  return owned(ownerOf(cluster), 'v1', 'Secret', `${cluster.name}${CONFIG_SUFFIX}`, {
    type: 'Opaque',
    data,
  });
}

function headlessService(cluster: Cluster): Manifest {
  const spec = {
    clusterIP: 'None',
    // Servers look for each other before any of them is ready.
    publishNotReadyAddresses: true,
    selector: selectorOf(cluster),
    ports: [
      servicePort('client', CLIENT_PORT),
      servicePort('route', ROUTE_PORT),
      servicePort('monitor', cluster.spec.monitoringPort),
    ],
  };
  return owned(ownerOf(cluster), 'v1', 'Service', headlessName(cluster), {
    spec,
  });
}

function clientService(cluster: Cluster): Manifest {
  const spec = { selector: selectorOf(cluster), ports: [servicePort('client', CLIENT_PORT)] };
  return owned(ownerOf(cluster), 'v1', 'Service', cluster.name, { spec });
}

function budget(cluster: Cluster): Manifest {
  const spec = { maxUnavailable: 1, selector: { matchLabels: selectorOf(cluster) } };
  return owned(ownerOf(cluster), 'policy/v1', 'PodDisruptionBudget', cluster.name, { spec });
}

const networkPolicy = (cluster: Cluster): Manifest =>
  owned(
    ownerOf(cluster),
    'networking.k8s.io/v1',
    'NetworkPolicy',
    cluster.name,
    networkPolicySpec(cluster),
  );
