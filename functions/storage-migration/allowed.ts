// Whether the API server lets this function do something, by its own word.
import type { Right } from '../../shared/api/migration-rights.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { apiVersionOf } from '../../shared/kube/objects.ts';

const REVIEWS = {
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: 'selfsubjectaccessreviews',
} as const;

export async function isAllowed(
  kube: KubeClient,
  { group, resource, subresource, name }: Right,
  verb: string,
  signal: AbortSignal,
): Promise<boolean> {
  const path = `/apis/${REVIEWS.group}/${REVIEWS.version}/${REVIEWS.resource}`;
  const resourceAttributes = { group, resource, verb, subresource, name };
  const body = {
    apiVersion: apiVersionOf(REVIEWS),
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  };
  const answer = await kube.raw({ method: 'POST', path, body, repeat: 'always', signal });
  // The API server's own shape.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { status } = JSON.parse(answer.text) as { status: { allowed: boolean } };
  return status.allowed;
}
