// An object storage that speaks S3, in a pod of its own: it has one bucket, and keeps its objects
// for as long as the pod is there.
import { partEntry } from '../../local/parts/catalog.ts';
import type { Manifest } from '../../../../shared/kube/objects.ts';

const PORT = 7070;
/** Any user but root will do. */
const UID = 1_000;
const NAME = 's3';

export const STORAGE_IMAGE = `dev.local/ballast/versitygw:${partEntry('versitygw').version}`;
export const BUCKET = 'backups';
/** Nothing outside of this machine reaches it. */
export const KEYS = { accessKeyId: 'ballast', secretAccessKey: 'not-a-secret' };

/** For pods, in whatever namespace. */
export const endpointIn = (namespace: string): string => `http://${NAME}.${namespace}.svc:${PORT}`;

export const storageObjects = (namespace: string): readonly [pod: Manifest, service: Manifest] => [
  pod(namespace),
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: NAME },
    spec: { selector: { app: NAME }, ports: [{ port: PORT }] },
  },
];

const pod = (namespace: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace, name: NAME, labels: { app: NAME } },
  spec: {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: UID,
      runAsGroup: UID,
      fsGroup: UID,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [container],
    volumes: [{ name: 'objects', emptyDir: {} }],
  },
});

const container = {
  name: NAME,
  image: STORAGE_IMAGE,
  args: [
    `--port=:${PORT}`,
    `--access=${KEYS.accessKeyId}`,
    `--secret=${KEYS.secretAccessKey}`,
    '--health=/health',
    '--quiet',
    'posix',
    // A file system of nodes may keep no attributes of files.
    '--sidecar=/sidecar',
    '/objects',
  ],
  readinessProbe: { httpGet: { path: '/health', port: PORT }, periodSeconds: 1 },
  resources: { requests: { cpu: '10m', memory: '64Mi' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  // A directory is a bucket, and the kubelet makes that of a `subPath`.
  volumeMounts: [
    { name: 'objects', mountPath: '/objects', subPath: 'objects' },
    { name: 'objects', mountPath: `/objects/${BUCKET}`, subPath: `objects/${BUCKET}` },
    { name: 'objects', mountPath: '/sidecar', subPath: 'sidecar' },
  ],
};
