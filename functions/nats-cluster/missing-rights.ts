// Finds rights that the function lacks: they are granted by namespace, and a namespace may have
// been forgotten. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { isOfRbac } from '../../shared/kube/rbac.ts';
import type { Cluster } from './cluster.ts';

/** Undefined for any other failure. */
export function rightsMissing(
  { namespace, name }: Pick<Cluster, 'namespace' | 'name'>,
  error: unknown,
): Reason | undefined {
  if (!isKubeError(error, 'KUBE_FORBIDDEN')) return undefined;
  const { message = '' } = error.answer ?? {};
  if (!isOfRbac(message)) return undefined;
  return {
    reason: 'RightsMissing',
    message:
      `The function may not look after NatsCluster ${namespace}/${name} (${message}). Its ` +
      'servers go on, and nobody looks after them. Grant it its rights there: ' +
      commandFor(namespace),
  };
}

/**
 * Servers run without a NetworkPolicy, so a refused one stops nothing else. It is refused where the
 * rights are older than it, or where somebody allows none. Undefined for any other failure.
 */
export function policyRefusalOf(
  { namespace, name }: Pick<Cluster, 'namespace' | 'name'>,
  error: unknown,
): Reason | undefined {
  if (!isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID')) return undefined;
  const { message = error.message } = error.answer ?? {};
  const { reason, wish } = isOfRbac(message)
    ? { reason: 'RightsMissing', wish: `Grant it its rights there: ${commandFor(namespace)}` }
    : { reason: 'NetworkPolicyRefused', wish: 'Let it be made' };
  return {
    reason,
    message:
      `NetworkPolicy ${namespace}/${name} cannot be made (${message}). All else goes on, and ` +
      'whoever is in the network reaches the routes and monitoring pages of the servers. ' +
      `${wish}, or set spec.networkPolicy to None.`,
  };
}

const commandFor = (namespace: string): string =>
  `npm run -s rights -- nats-cluster -n ${namespace} | kubectl apply -f -`;
