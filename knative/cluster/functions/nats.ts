// The NATS of a cluster of our own making, until a NatsCluster takes its place: one server with
// JetStream, in the memory of its pod, at the address that the functions' settings name.
import type { Manifest } from '../../../shared/kube/objects.ts';
import { programSpec } from '../../images/program.ts';
import { partEntry } from '../../local/parts/catalog.ts';
import { resolvePart } from '../../local/parts/resolve.ts';
import { partsSettings } from '../../local/parts/settings.ts';
import { cachedArchive } from '../knative/cached-archive.ts';

const CLIENT_PORT = 4222;
const MONITORING_PORT = 8222;
const STORE = '/data';
/** Nobody has fewer files than a feed of a test cluster; a pod must not fill the node's memory. */
const STORE_SIZE = '512Mi';

const image = `dev.local/ballast/nats-server:${partEntry('nats-server').version}`;
const metadata = {
  namespace: 'ballast-system',
  name: 'nats',
  labels: { 'app.kubernetes.io/name': 'nats' },
};

/** The archive that a node imports. */
export async function natsArchive(signal: AbortSignal): Promise<string> {
  const settings = partsSettings();
  const binary = await resolvePart('nats-server', { settings, signal });
  return cachedArchive(await programSpec({ image, binary }), settings);
}

export const natsObjects: readonly Manifest[] = [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { selector: metadata.labels, ports: [{ name: 'client', port: CLIENT_PORT }] },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas: 1,
      // Two servers would each be a NATS of its own.
      strategy: { type: 'Recreate' },
      selector: { matchLabels: metadata.labels },
      template: { metadata: { labels: metadata.labels }, spec: podSpec() },
    },
  },
];

function podSpec(): object {
  return {
    automountServiceAccountToken: false,
    securityContext: {
      runAsNonRoot: true,
      fsGroup: 65_532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      {
        name: 'nats',
        image,
        args: [
          `--port=${CLIENT_PORT}`,
          `--http_port=${MONITORING_PORT}`,
          '--jetstream',
          `--store_dir=${STORE}`,
        ],
        ports: [{ name: 'client', containerPort: CLIENT_PORT }],
        readinessProbe: { httpGet: { path: '/healthz', port: MONITORING_PORT }, periodSeconds: 1 },
        resources: { requests: { cpu: '10m', memory: '32Mi' } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: [{ name: 'data', mountPath: STORE }],
      },
    ],
    volumes: [{ name: 'data', emptyDir: { medium: 'Memory', sizeLimit: STORE_SIZE } }],
  };
}
