// A NATS of the chart `nats` of nats-io, as Helm 4 leaves version 2.14.2 of it in a cluster:
// Services, ConfigMap, StatefulSet and pods. A test says where the pods are, and what differs.
import type { KubeObject, Manifest } from '../../shared/kube/objects.ts';

export interface ChartPlace {
  readonly namespace: string;
  readonly name: string;
}

/** As the chart writes it: JSON, in which `<< WORD >>` loses its quotes. */
export function chartConfig(name: string, config: object = {}, replicas = 3): string {
  const routes = Array.from(
    { length: replicas },
    (_, at) => `nats://${name}-${at}.${name}-headless`,
  );
  const written = {
    cluster: {
      name,
      no_advertise: true,
      port: 6222,
      routes: routes.map((route) => `${route}:6222`),
    },
    http_port: 8222,
    lame_duck_duration: '30s',
    lame_duck_grace_period: '10s',
    pid_file: '/var/run/nats/nats.pid',
    port: 4222,
    server_name: '<< $SERVER_NAME >>',
    ...config,
  };
  return JSON.stringify(written, null, 2).replaceAll(/"<<\s+(.*?)\s+>>"/g, '$1');
}

const selectorOf = (release: string) => ({
  'app.kubernetes.io/component': 'nats',
  'app.kubernetes.io/instance': release,
  'app.kubernetes.io/name': 'nats',
});

export const chartLabels = (release: string, version = '2.14.2') => ({
  ...selectorOf(release),
  'app.kubernetes.io/managed-by': 'Helm',
  'app.kubernetes.io/version': version,
  'helm.sh/chart': `nats-${version}`,
});

const metadataOf = ({ namespace, name }: ChartPlace, release: string) => ({
  namespace,
  name,
  labels: chartLabels(release),
  annotations: {
    'meta.helm.sh/release-name': release,
    'meta.helm.sh/release-namespace': namespace,
  },
});

const portOf = (name: string, port: number) => ({
  name,
  port,
  protocol: 'TCP',
  targetPort: name,
  appProtocol: 'tcp',
});

/** The release has the name of what it makes. */
export function chartServices({ namespace, name }: ChartPlace): readonly [Manifest, Manifest] {
  const [client, ...others] = [portOf('nats', 4222), portOf('cluster', 6222)];
  const selector = selectorOf(name);
  const service = (own: string, spec: object): Manifest => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf({ namespace, name: own }, name),
    spec: { selector, ...spec },
  });
  const [ports, all] = [[client], [client, ...others, portOf('monitor', 8222)]];
  const headless = { clusterIP: 'None', publishNotReadyAddresses: true, ports: all };
  return [service(name, { ports }), service(`${name}-headless`, headless)];
}

export const chartConfigMap = ({ namespace, name }: ChartPlace, text: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: metadataOf({ namespace, name: `${name}-config` }, name),
  data: { 'nats.conf': text },
});

export function chartStatefulSet(
  { namespace, name }: ChartPlace,
  {
    env = [],
    ...spec
  }: { readonly env?: readonly object[] } & Readonly<Record<string, unknown>> = {},
): Manifest {
  const selector = selectorOf(name);
  const podName = { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } };
  const named = { name: 'SERVER_NAME', value: '$(POD_NAME)' };
  const ports = { nats: 4222, cluster: 6222, monitor: 8222 };
  const container = {
    name: 'nats',
    image: 'nats:2.14.2-alpine',
    args: ['--config', '/etc/nats-config/nats.conf'],
    env: [podName, named, ...env],
    ports: Object.entries(ports).map(([port, containerPort]) => ({ name: port, containerPort })),
    volumeMounts: [
      { name: 'config', mountPath: '/etc/nats-config' },
      { name: 'pid', mountPath: '/var/run/nats' },
    ],
  };
  const volumes = [
    { name: 'config', configMap: { name: `${name}-config` } },
    { name: 'pid', emptyDir: {} },
  ];
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: metadataOf({ namespace, name }, name),
    spec: {
      podManagementPolicy: 'Parallel',
      replicas: 3,
      selector: { matchLabels: selector },
      serviceName: `${name}-headless`,
      template: {
        metadata: { labels: chartLabels(name) },
        spec: { terminationGracePeriodSeconds: 60, containers: [container], volumes },
      },
      ...spec,
    },
  };
}

/** As the controller makes it. */
export function chartPod(set: KubeObject, ordinal: number): Manifest {
  const { namespace = '', name, uid } = set.metadata;
  const { template } = Object(set['spec']) as { template: { metadata: object; spec: object } };
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, controller: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...template.metadata,
      namespace,
      name: `${name}-${ordinal}`,
      ownerReferences: [owner],
    },
    spec: { ...template.spec, hostname: `${name}-${ordinal}`, subdomain: `${name}-headless` },
  };
}
