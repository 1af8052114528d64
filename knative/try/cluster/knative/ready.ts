// Whether what Knative is made of serves, read from the API server: its deployments, and its
// webhooks, which write the certificate they are known by into their own configuration.
import type { KubeClient } from '../../../../shared/kube/client.ts';
import type { KubeObject } from '../../../../shared/kube/objects.ts';

interface Deployment extends KubeObject {
  readonly spec?: { readonly replicas: number };
  readonly status?: { readonly availableReplicas?: number; readonly observedGeneration?: number };
}

interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
}

/** `namespace/name` of each deployment in these namespaces whose replicas all serve. */
export async function readyDeployments(
  kube: KubeClient,
  namespaces: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const ref = { group: 'apps', version: 'v1', resource: 'deployments' };
  const lists = await Promise.all(
    namespaces.map((namespace) => kube.list(ref, { namespace, signal, freshness: 'any' })),
  );
  // The API server keeps to the shapes of its kinds.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const deployments = lists.flatMap(({ items }) => items) as readonly Deployment[];
  return deployments.filter(serves).map(({ metadata: { namespace = '', name } }) => {
    return `${namespace}/${name}`;
  });
}

function serves({ metadata, spec = { replicas: 1 }, status = {} }: Deployment): boolean {
  const { availableReplicas = 0, observedGeneration = 0 } = status;
  return observedGeneration >= (metadata.generation ?? 0) && availableReplicas >= spec.replicas;
}

/** The names of the configurations of which every webhook can be called. */
export async function wiredWebhooks(
  kube: KubeClient,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> {
  const resources = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'];
  const lists = await Promise.all(
    resources.map((resource) =>
      kube.list(
        { group: 'admissionregistration.k8s.io', version: 'v1', resource },
        { signal, freshness: 'any' },
      ),
    ),
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const configurations = lists.flatMap(({ items }) => items) as readonly WebhookConfiguration[];
  const wired = configurations.filter(({ webhooks = [] }) =>
    webhooks.every(({ clientConfig }) => (clientConfig.caBundle ?? '') !== ''),
  );
  return new Set(wired.map(({ metadata }) => metadata.name));
}
