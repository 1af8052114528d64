// Two real API servers on one etcd, listed as API servers list themselves.
import type { Plane } from '../../knative/try/local/plane/plane.ts';
import type { Part } from '../../knative/try/local/process/part.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { putStored } from './etcd-values.ts';
import { until } from './versioned-kind.ts';

const SLICES = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' } as const;
const FIRST = '127.0.0.1';
const SECOND = '127.0.0.2';

/** Returns when the first one answers with both addresses. */
export async function addSecondServer(plane: Plane, kube: KubeClient): Promise<Part> {
  const second = await plane.addApiServer('kube-apiserver-2', SECOND);
  await putStored(plane, '', 'endpointslices', 'default/kubernetes', {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      uid: crypto.randomUUID(),
      creationTimestamp: '2026-11-21T00:00:00Z',
      labels: { 'kubernetes.io/service-name': 'kubernetes' },
    },
    addressType: 'IPv4',
    // Past the API server, which refuses addresses of loopback.
    endpoints: [{ addresses: [FIRST] }, { addresses: [SECOND] }],
    ports: [{ name: 'https', port: Number(new URL(second.url).port), protocol: 'TCP' }],
  });
  await until('both API servers to be listed', async () => {
    const { items } = await kube.list(SLICES, { namespace: 'default' });
    return items.length === 1;
  });
  return second;
}
