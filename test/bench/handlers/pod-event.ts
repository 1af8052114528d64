// An event as ApiServerSource sends it in Resource mode: a pod of 1.8 KB, in binary mode.

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'frontend-5d8f6c7b9-x2x7k',
    generateName: 'frontend-5d8f6c7b9-',
    namespace: 'web',
    uid: '3f0c0b0e-52b5-4c5d-9d0f-6b1f1b7f2f7e',
    resourceVersion: '184467',
    creationTimestamp: '2026-11-21T10:00:00Z',
    labels: { app: 'frontend', 'pod-template-hash': '5d8f6c7b9', tier: 'web' },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'frontend-5d8f6c7b9',
        uid: 'a6a0f5ae-7a4e-4f5c-8d2c-2b8d2a6a1c11',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
  spec: {
    nodeName: 'node-17',
    serviceAccountName: 'frontend',
    restartPolicy: 'Always',
    containers: [
      {
        name: 'server',
        image: 'registry.example/web/frontend:1.42.0',
        ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
        readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 5 },
      },
    ],
  },
  status: {
    phase: 'Running',
    hostIP: '10.0.0.17',
    podIP: '10.244.17.23',
    podIPs: [{ ip: '10.244.17.23' }],
    startTime: '2026-11-21T10:00:01Z',
    qosClass: 'Burstable',
    conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: '2026-11-21T10:00:03Z',
    })),
    containerStatuses: [
      {
        name: 'server',
        ready: true,
        restartCount: 0,
        image: 'registry.example/web/frontend:1.42.0',
        containerID:
          'containerd://5b1f0f3f7c0e4a2f8f4c1a8e3b9d6c7f5b1f0f3f7c0e4a2f8f4c1a8e3b9d6c7f',
        state: { running: { startedAt: '2026-11-21T10:00:02Z' } },
      },
    ],
  },
};

export const podEventBody = JSON.stringify(pod);

export const podEventHeaders: Readonly<Record<string, string>> = {
  'ce-specversion': '1.0',
  'ce-id': '6f1c6b0e-2f3a-4a53-9d58-0a7f8e0c6b5d',
  'ce-source': 'https://10.96.0.1:443',
  'ce-type': 'dev.knative.apiserver.resource.update',
  'ce-subject': '/apis/v1/namespaces/web/pods/frontend-5d8f6c7b9-x2x7k',
  'ce-time': '2026-11-21T10:00:03.123456789Z',
  'ce-apiversion': 'v1',
  'ce-kind': 'Pod',
  'ce-name': 'frontend-5d8f6c7b9-x2x7k',
  'ce-namespace': 'web',
  'content-type': 'application/json',
};
