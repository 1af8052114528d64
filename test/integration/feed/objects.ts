// Objects by name, as tests need them on a real API server without anybody who runs them.
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';

const PODS: ResourceRef = { group: '', version: 'v1', resource: 'pods' };
export const SLICES: ResourceRef = {
  group: 'discovery.k8s.io',
  version: 'v1',
  resource: 'endpointslices',
};

const NAMESPACE = 'default';

export async function createPod(
  kube: KubeClient,
  name: string,
  nodeName?: string,
): Promise<KubeObject> {
  const { object } = await kube.create(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      containers: [{ name: 'app', image: 'app:1' }],
      ...(nodeName === undefined ? {} : { nodeName }),
    },
  });
  return object;
}

/** As the scheduler does it. */
export async function bindPod(kube: KubeClient, name: string, node: string): Promise<KubeObject> {
  const target = { namespace: NAMESPACE, name };
  const body = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name },
    target: { kind: 'Node', name: node },
  };
  await kube.createSubresource(PODS, { ...target, subresource: 'binding' }, body);
  return readPod(kube, name);
}

async function readPod(kube: KubeClient, name: string): Promise<KubeObject> {
  const pod = await kube.get(PODS, { namespace: NAMESPACE, name });
  if (pod === null) throw new Error(`there is no pod ${name}`);
  return pod;
}

export async function labelPod(
  kube: KubeClient,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<KubeObject> {
  return kube.patch(
    PODS,
    { namespace: NAMESPACE, name },
    { type: 'merge', body: { metadata: { labels } } },
  );
}

export async function annotatePod(
  kube: KubeClient,
  name: string,
  annotations: Readonly<Record<string, string>>,
): Promise<KubeObject> {
  const body = { metadata: { annotations } };
  return kube.patch(PODS, { namespace: NAMESPACE, name }, { type: 'merge', body });
}

/** The object as the deletion's own event shows it. */
export async function removePod(kube: KubeClient, name: string): Promise<KubeObject> {
  const last = await readPod(kube, name);
  const precondition = { precondition: 'none', because: 'the test owns the cluster' } as const;
  const options = { gracePeriodSeconds: 0 };
  await kube.delete(PODS, { namespace: NAMESPACE, name }, precondition, options);
  const { metadata } = await kube.list(PODS, { namespace: NAMESPACE, limit: 1 });
  const { resourceVersion } = metadata;
  return { ...last, metadata: { ...last.metadata, resourceVersion } };
}

export async function removeAllPods(kube: KubeClient): Promise<void> {
  const { items } = await kube.list(PODS, { namespace: NAMESPACE });
  for (const { metadata } of items) await removePod(kube, metadata.name);
}
