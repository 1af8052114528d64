// Objects as an API server sends them, with all the fields that a feed does not show.
import type { ShowPlan } from '../../../shared/feed/projections/show.ts';
import type { SourceObject } from '../../../shared/feed/projections/source.ts';

export const plan: ShowPlan = { epoch: 1, podLabels: ['*'], podAnnotations: [], fields: [] };

export function object(
  kind: string,
  metadata: Partial<SourceObject['metadata']> = {},
  rest: Readonly<Record<string, unknown>> = {},
): SourceObject {
  return {
    apiVersion: 'v1',
    kind,
    metadata: { name: 'a', namespace: 'web', uid: 'uid-1', resourceVersion: '7', ...metadata },
    ...rest,
  };
}

const ids = { server: 'a', proxy: 'b' };

const containerStatus = (name: 'server' | 'proxy'): Readonly<Record<string, unknown>> => ({
  name,
  image: `registry.example/web/${name}:1.42.0`,
  imageID: `registry.example/web/${name}@sha256:${'5b1f0f3f7c0e4a2f'.repeat(4)}`,
  containerID: `containerd://${ids[name].repeat(64)}`,
  ready: true,
  started: true,
  restartCount: name === 'proxy' ? 2 : 0,
  state: { running: { startedAt: '2026-11-21T10:00:02Z' } },
  lastState: {},
});

const container = (name: 'server' | 'proxy'): Readonly<Record<string, unknown>> => ({
  name,
  image: `registry.example/web/${name}:1.42.0`,
  args: ['--listen=:8080', '--upstream=http://localhost:9090'],
  env: [
    { name: 'PASSWORD', value: 'hunter2' },
    { name: 'HOST_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
  ],
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
  readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 5 },
  volumeMounts: [{ name: 'api', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }],
  terminationMessagePath: '/dev/termination-log',
  imagePullPolicy: 'IfNotPresent',
});

/** A pod of 4 KB, as they are in a cluster with a sidecar. */
export const pod = object(
  'Pod',
  {
    name: 'frontend-5d8f6c7b9-x2x7k',
    uid: '3f0c0b0e-52b5-4c5d-9d0f-6b1f1b7f2f7e',
    resourceVersion: '184467',
    creationTimestamp: '2026-11-21T10:00:00Z',
    labels: { tier: 'web', app: 'frontend', 'pod-template-hash': '5d8f6c7b9' },
    annotations: { 'example.com/team': 'shop', 'example.com/notes': 'a password: hunter2' },
    ownerReferences: [
      { apiVersion: 'v1', kind: 'Config', name: 'not-the-controller', uid: 'uid-9' },
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'frontend-5d8f6c7b9',
        uid: 'a6a0f5ae-7a4e-4f5c-8d2c-2b8d2a6a1c11',
        controller: true,
      },
    ],
    managedFields: [
      {
        manager: 'kubelet',
        operation: 'Update',
        fieldsV1: { 'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': { 'f:status': {} } } } },
      },
    ],
  },
  {
    spec: {
      nodeName: 'node-17',
      serviceAccountName: 'frontend',
      restartPolicy: 'Always',
      containers: [container('server'), container('proxy')],
      volumes: [{ name: 'api', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }],
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', tolerationSeconds: 300 },
        { key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: 300 },
      ],
    },
    status: {
      phase: 'Running',
      hostIP: '10.0.0.17',
      podIP: '10.244.17.23',
      podIPs: [{ ip: '10.244.17.23' }, { ip: 'fd00:10:244::17' }],
      startTime: '2026-11-21T10:00:01Z',
      qosClass: 'Burstable',
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime: '2026-11-21T10:00:03Z',
      })),
      containerStatuses: [containerStatus('proxy'), containerStatus('server')],
    },
  },
);
