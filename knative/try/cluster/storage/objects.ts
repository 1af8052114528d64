// An object storage that speaks S3, in a pod of its own: it has one bucket, and keeps its objects
// for as long as the pod is there.
import type { Manifest } from '../../../../shared/kube/objects.ts';
import { partEntry } from '../../local/parts/catalog.ts';
import { containerSecurity, podSecurity } from '../extra-pod.ts';

const PORT = 7070;
const NAME = 's3';

export const STORAGE = {
  part: 'versitygw',
  image: `dev.local/ballast/versitygw:${partEntry('versitygw').version}`,
} as const;
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
    securityContext: podSecurity,
    containers: [container],
    volumes: [{ name: 'objects', emptyDir: {} }],
  },
});

const container = {
  name: NAME,
  image: STORAGE.image,
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
  securityContext: containerSecurity,
  // A directory is a bucket, and the kubelet makes that of a `subPath`.
  volumeMounts: [
    { name: 'objects', mountPath: '/objects', subPath: 'objects' },
    { name: 'objects', mountPath: `/objects/${BUCKET}`, subPath: `objects/${BUCKET}` },
    { name: 'objects', mountPath: '/sidecar', subPath: 'sidecar' },
  ],
};
