// Renders the parts of a cluster. Each carries a hash of itself, which shows later whether it is
// still as rendered, and belongs to the NatsCluster. Claims belong to nobody, so that data outlives
// the NatsCluster. Pure.
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import { hashOf } from '../../../shared/hash.ts';
import type { Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import {
  BUDGETS,
  NETWORK_POLICIES,
  SECRETS,
  SERVICES,
  STATEFUL_SETS,
} from '../../../shared/stateful/parts.ts';
import { CLIENT_PORT, type Cluster, headlessName, ROUTE_PORT } from '../cluster.ts';
import type { Credentials } from '../credentials.ts';
import { CONFIG_KEY, CONFIG_SUFFIX, type ConfigObject, configText, natsConfig } from './config.ts';
import { labelsOf, selectorOf } from './labels.ts';
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

export interface RenderedPart {
  readonly key: PartKey;
  readonly ref: ResourceRef;
  readonly manifest: Manifest;
}

export interface Rendered {
  readonly config: ConfigObject;
  readonly parts: readonly RenderedPart[];
  /** Hash of the pod template: a pod with another one has to be made anew. */
  readonly templateHash: string;
}

export const HASH_ANNOTATION = 'ballast.dev/rendered';

export function render(cluster: Cluster, credentials: Credentials, shape: Shape): Rendered {
  const config = natsConfig(cluster, credentials);
  const { spec, templateHash } = statefulSetSpec(cluster, config, shape);
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
        ...owned(cluster, 'apps/v1', 'StatefulSet', '', { spec: { ...spec, replicas: 0 } }),
        spec,
      }),
    ],
  };
}

/** Renders an object that is deleted with the NatsCluster. */
export function owned(
  cluster: Cluster,
  apiVersion: string,
  kind: string,
  suffix: string,
  body: Readonly<Record<string, unknown>>,
): Manifest {
  const { name, namespace, uid } = cluster;
  const owner = {
    apiVersion: `${NATS_CLUSTERS.group}/${NATS_CLUSTERS.version}`,
    kind: 'NatsCluster',
    name,
    uid,
    controller: true,
  };
  return {
    apiVersion,
    kind,
    metadata: {
      name: `${name}${suffix}`,
      namespace,
      labels: labelsOf(cluster),
      annotations: { [HASH_ANNOTATION]: hashOf(body) },
      ownerReferences: [owner],
    },
    ...body,
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
  return owned(cluster, 'v1', 'Secret', CONFIG_SUFFIX, { type: 'Opaque', data });
}

const port = (name: string, number: number) => ({
  name,
  port: number,
  targetPort: name,
  protocol: 'TCP',
});

function headlessService(cluster: Cluster): Manifest {
  const spec = {
    clusterIP: 'None',
    // Servers look for each other before any of them is ready.
    publishNotReadyAddresses: true,
    selector: selectorOf(cluster),
    ports: [
      port('client', CLIENT_PORT),
      port('route', ROUTE_PORT),
      port('monitor', cluster.spec.monitoringPort),
    ],
  };
  return owned(cluster, 'v1', 'Service', headlessName(cluster).slice(cluster.name.length), {
    spec,
  });
}

function clientService(cluster: Cluster): Manifest {
  const spec = { selector: selectorOf(cluster), ports: [port('client', CLIENT_PORT)] };
  return owned(cluster, 'v1', 'Service', '', { spec });
}

function budget(cluster: Cluster): Manifest {
  const spec = { maxUnavailable: 1, selector: { matchLabels: selectorOf(cluster) } };
  return owned(cluster, 'policy/v1', 'PodDisruptionBudget', '', { spec });
}

const networkPolicy = (cluster: Cluster): Manifest =>
  owned(cluster, 'networking.k8s.io/v1', 'NetworkPolicy', '', networkPolicySpec(cluster));
