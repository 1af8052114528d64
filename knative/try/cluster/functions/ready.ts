// Whether what `kubectl apply -k` has made works: each object of the installation that says of
// itself whether it is ready, and the first sentence of those that are not.
import type { KubeClient } from '../../../../shared/kube/client.ts';
import type { Condition } from '../../../../shared/kube/conditions.ts';
import type { KubeObject } from '../../../../shared/kube/objects.ts';

interface Readiness {
  readonly ready: readonly string[];
  /** With what is lacking. */
  readonly waiting: readonly string[];
}

const NAMESPACE = 'ballast-system';

const kinds = [
  { group: 'eventing.knative.dev', version: 'v1', resource: 'brokers' },
  { group: 'eventing.knative.dev', version: 'v1', resource: 'triggers' },
  { group: 'sources.knative.dev', version: 'v1', resource: 'apiserversources' },
  { group: 'sources.knative.dev', version: 'v1', resource: 'pingsources' },
  { group: 'serving.knative.dev', version: 'v1', resource: 'services' },
  { group: 'ballast.dev', version: 'v1alpha1', resource: 'metadatafeeds' },
  { group: 'ballast.dev', version: 'v1alpha1', resource: 'natsclusters' },
] as const;

export async function whatIsReady(kube: KubeClient, signal: AbortSignal): Promise<Readiness> {
  const ready: string[] = [];
  const waiting: string[] = [];
  for (const ref of kinds) {
    const { items } = await kube.list(ref, { namespace: NAMESPACE, signal });
    for (const object of items) {
      const fullName = `${ref.resource}/${object.metadata.name}`;
      const condition = readyCondition(object);
      if (condition?.status === 'True') ready.push(fullName);
      else waiting.push(`${fullName}: ${condition?.message ?? 'nobody has looked at it yet'}`);
    }
  }
  return { ready, waiting };
}

function readyCondition(object: KubeObject): Condition | undefined {
  // Knative's kinds and ours have Kubernetes' conditions.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { conditions = [] } = (object['status'] ?? {}) as { conditions?: readonly Condition[] };
  return conditions.find(({ type }) => type === 'Ready');
}
