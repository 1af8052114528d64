// Kinds of operators that are gone, and all that is alike for each of them: definitions without a
// schema, as clusters have them that went through 1.22, addresses of bare pods, Takeovers.
import { TAKEOVERS, type TakeoverStatus } from '../../shared/api/takeover.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { CRDS } from '../../shared/kube/crds.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { ObjectName, ResourceRef } from '../../shared/kube/objects.ts';
import { PODS } from '../../shared/stateful/parts.ts';
import { until } from './versioned-kind.ts';

/** Where their operators run. */
export const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' } as const;

/** The definition that the operator made in code, as the API server keeps it by now. */
export async function defineLegacyKind(
  kube: KubeClient,
  ref: ResourceRef,
  kind: string,
  shortName: string,
): Promise<void> {
  const names = {
    kind,
    listKind: `${kind}List`,
    plural: ref.resource,
    singular: kind.toLowerCase(),
    shortNames: [shortName],
  };
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const version = { name: ref.version, served: true, storage: true, schema: { openAPIV3Schema } };
  await kube.create(CRDS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${ref.resource}.${ref.group}` },
    spec: { group: ref.group, scope: 'Namespaced', names, versions: [version] },
  });
  await until('the legacy kind to be served', async () => {
    try {
      return (await kube.list(ref)).items.length === 0;
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return false;
      throw error;
    }
  });
}

export const WEBHOOKS = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingwebhookconfigurations',
} as const;

/** A webhook of an operator: nobody answers there any more, and its `failurePolicy` is `Fail`. */
export async function leaveWebhook(
  kube: KubeClient,
  { group, version, resource }: ResourceRef,
): Promise<void> {
  const operations = ['CREATE', 'UPDATE'];
  const name = `${resource}.${group}`;
  await kube.create(WEBHOOKS, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name,
        admissionReviewVersions: ['v1'],
        clientConfig: { url: 'https://127.0.0.1:1/validate' },
        failurePolicy: 'Fail',
        sideEffects: 'None',
        rules: [{ apiGroups: [group], apiVersions: [version], operations, resources: [resource] }],
      },
    ],
  });
}

export async function runsAt(kube: KubeClient, pod: ObjectName, ip: string): Promise<void> {
  const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }] };
  const target = { ...pod, subresource: 'status' } as const;
  await kube.patch(PODS, target, { type: 'merge', body: { status } });
}

export async function createTakeover(
  kube: KubeClient,
  metadata: { readonly namespace: string; readonly name: string },
  spec: object,
): Promise<void> {
  const apiVersion = 'ballast.dev/v1alpha1';
  await kube.create(TAKEOVERS, { apiVersion, kind: 'Takeover', metadata, spec });
}

export async function takeoverStatus(
  kube: KubeClient,
  target: ObjectName,
): Promise<TakeoverStatus> {
  return (await kube.get(TAKEOVERS, target))?.['status'] ?? {};
}

/** Its plan, which a function has told by now; the id of that. */
export async function confirmPlan(kube: KubeClient, target: ObjectName): Promise<string> {
  const { plan } = await takeoverStatus(kube, target);
  const { id = '' } = plan ?? {};
  if (id === '') throw new Error(`there is no plan: ${JSON.stringify(plan?.refusals)}`);
  await kube.patch(TAKEOVERS, target, { type: 'merge', body: { spec: { confirm: id } } });
  return id;
}

/** An operator that runs still. */
export async function startOperator(
  kube: KubeClient,
  namespace: string,
  name: keyof typeof OPERATORS,
): Promise<void> {
  const labels = { name };
  await kube.create(DEPLOYMENTS, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'operator', image: OPERATORS[name] }] },
      },
    },
  });
}

const OPERATORS = {
  'etcd-operator': 'quay.io/coreos/etcd-operator:v0.9.4',
  'eco-controller-manager': 'quay.io/improbable-eng/etcd-cluster-operator-controller:v0.2.0',
  'nats-operator': 'natsio/nats-operator:0.8.3',
} as const;
