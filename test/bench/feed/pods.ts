// The pods of the benchmarks: some 4 KB of JSON each as the API server answers it, running, with
// addresses and container ids, spread over nodes whose Node objects nobody needs.
import { inParallel } from '../../../knative/try/local/cluster/in-parallel.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { Manifest, ResourceRef } from '../../../shared/kube/objects.ts';

export const PODS: ResourceRef = { group: '', version: 'v1', resource: 'pods' };
export const POD_NAMESPACE = 'default';
/** More would only queue up in the API server. */
const IN_FLIGHT_MAX = 16;

export const podName = (index: number): string => `pod-${String(index).padStart(5, '0')}`;
export const nodeName = (index: number): string => `node-${String(index).padStart(4, '0')}`;
export const nodeNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => nodeName(index));

/** The pods from one number to before another. */
export async function createPods(
  kube: KubeClient,
  { from = 0, to, nodes }: { readonly from?: number; readonly to: number; readonly nodes: number },
): Promise<void> {
  const indexes = Array.from({ length: to - from }, (_, index) => from + index);
  await inParallel(indexes, IN_FLIGHT_MAX, (index) => createPod(kube, index, nodes));
}

/** Pod i runs on node i modulo `nodes`. */
export async function createPod(kube: KubeClient, index: number, nodes: number): Promise<void> {
  await kube.create(PODS, manifest(index, nodes));
  const target = { namespace: POD_NAMESPACE, name: podName(index), subresource: 'status' };
  await kube.patch(PODS, target, { type: 'merge', body: { status: running(index) } });
}

function manifest(index: number, nodes: number): Manifest {
  const app = `app-${index % 20}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(index),
      namespace: POD_NAMESPACE,
      labels: { app, 'pod-template-hash': '6d4b75cb6d', version: '1.0.0' },
    },
    spec: {
      nodeName: nodeName(index % nodes),
      containers: [
        {
          name: app,
          image: `registry.local/${app}:1.0.0`,
          ports: [{ containerPort: 8080 }],
          resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
        },
        { name: 'proxy', image: 'registry.local/proxy:2.3.1' },
      ],
    },
  };
}

function running(index: number): Readonly<Record<string, unknown>> {
  const app = `app-${index % 20}`;
  const startedAt = '2026-11-21T12:00:00Z';
  const podIP = `10.${64 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
  const status = (name: string, image: string, order: string) => ({
    name,
    image,
    imageID: `${image}@sha256:${order.repeat(64)}`,
    containerID: `containerd://${order}${String(index).padStart(63, '0')}`,
    ready: true,
    started: true,
    restartCount: 0,
    state: { running: { startedAt } },
  });
  return {
    phase: 'Running',
    podIP,
    podIPs: [{ ip: podIP }],
    hostIP: '10.1.0.1',
    startTime: startedAt,
    conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: startedAt,
    })),
    containerStatuses: [
      status(app, `registry.local/${app}:1.0.0`, 'a'),
      status('proxy', 'registry.local/proxy:2.3.1', 'b'),
    ],
  };
}
