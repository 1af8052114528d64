// The API server's authorizer reads roles from a cache of its own: what was granted counts a moment
// after the answer. An event that wakes a function in between is refused, and no fault of a role.
import type { KubeClient } from '../../../shared/kube/client.ts';
import { apiVersionOf } from '../../../shared/kube/objects.ts';
import { until } from '../../builders/versioned-kind.ts';
import { type Grant, told } from './grants.ts';

const REVIEWS = {
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: 'subjectaccessreviews',
} as const;

/** Until the API server itself lets each account, of this namespace, do what it was granted. */
export async function untilGranted(
  kube: KubeClient,
  accountsNamespace: string,
  grants: readonly Grant[],
): Promise<void> {
  for (const grant of grants) {
    const user = `system:serviceaccount:${accountsNamespace}:${grant.account}`;
    await until(`${told(grant)} to be granted`, () => isAllowed(kube, user, grant));
  }
}

async function isAllowed(kube: KubeClient, user: string, grant: Grant): Promise<boolean> {
  const { verb, group, namespace, names } = grant;
  const [resource, subresource] = grant.resource.split('/');
  const path = `/apis/${REVIEWS.group}/${REVIEWS.version}/${REVIEWS.resource}`;
  const body = {
    apiVersion: apiVersionOf(REVIEWS),
    kind: 'SubjectAccessReview',
    spec: {
      user,
      resourceAttributes: { verb, group, resource, subresource, namespace, name: names[0] },
    },
  };
  const answer = await kube.raw({ method: 'POST', path, body, repeat: 'always' });
  return (JSON.parse(answer.text) as { status: { allowed: boolean } }).status.allowed;
}
