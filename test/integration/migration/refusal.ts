// Objects that admission refuses to let anybody update, and lets go again: a policy of the API
// server itself, as the owner of a cluster would write it.
import type { KubeClient } from '../../../shared/kube/client.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import type { ResourceRef } from '../../../shared/kube/objects.ts';
import { GROUP, NAMESPACE, until } from '../../builders/versioned-kind.ts';

interface RefusableKind {
  readonly plural: string;
  readonly crdName: string;
}

const admission = (resource: string): ResourceRef => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource,
});
const POLICIES = admission('validatingadmissionpolicies');
const BINDINGS = admission('validatingadmissionpolicybindings');
interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
}
const nameOf = (kind: RefusableKind, name: string): string => `refuse-${name}.${kind.crdName}`;

/** Returns when the object cannot be updated any more. */
export async function refuseUpdates(
  kube: KubeClient,
  kind: RefusableKind,
  name: string,
): Promise<void> {
  const policyName = nameOf(kind, name);
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const rule = {
    apiGroups: [GROUP],
    apiVersions: ['*'],
    resources: [kind.plural],
    operations: ['UPDATE'],
    resourceNames: [name],
  };
  await kube.create(POLICIES, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: policyName },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: 'false', message: `${name} may not change` }],
    },
  });
  await kube.create(BINDINGS, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: policyName },
    spec: { policyName, validationActions: ['Deny'] },
  });
  await until(`updates of ${name} to be refused`, () => isRefused(kube, kind, name));
}

/** Returns when the object can be updated again. */
export async function allowUpdates(
  kube: KubeClient,
  kind: RefusableKind,
  name: string,
): Promise<void> {
  const anyway = { precondition: 'none', because: 'the test made it' } as const;
  await kube.delete(BINDINGS, { name: nameOf(kind, name) }, anyway);
  await kube.delete(POLICIES, { name: nameOf(kind, name) }, anyway);
  await until(`updates of ${name} to be taken`, async () => !(await isRefused(kube, kind, name)));
}

async function isRefused(kube: KubeClient, kind: RefusableKind, name: string): Promise<boolean> {
  const patch = { type: 'merge', body: { metadata: { labels: { refused: 'no' } } } } as const;
  const crd = await kube.get(CRDS, { name: kind.crdName });
  const spec = crd?.['spec'] as { readonly versions: readonly CrdVersion[] } | undefined;
  const version = spec?.versions.find(({ served }) => served)?.name ?? '';
  const ref = { group: GROUP, version, resource: kind.plural };
  try {
    await kube.patch(ref, { namespace: NAMESPACE, name }, patch, { dryRun: true });
    return false;
  } catch (error) {
    if (isKubeError(error, 'KUBE_INVALID', 'KUBE_FORBIDDEN')) return true;
    throw error;
  }
}
