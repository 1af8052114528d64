// Rights that the function lacks: they are granted by namespace, and one that has a NatsCluster may
// have been forgotten. Pure.
import { isKubeError } from '../../shared/kube/errors.ts';
import { isOfRbac } from '../../shared/kube/rbac.ts';
import type { Cluster } from './cluster.ts';
import type { Word } from './world.ts';

/** Undefined for whatever else went wrong. */
export function rightsMissing(
  { namespace, name }: Pick<Cluster, 'namespace' | 'name'>,
  error: unknown,
): Word | undefined {
  if (!isKubeError(error, 'KUBE_FORBIDDEN')) return undefined;
  const { message = '' } = error.answer ?? {};
  if (!isOfRbac(message)) return undefined;
  const command = `npm run -s rights -- nats-cluster -n ${namespace} | kubectl apply -f -`;
  return {
    reason: 'RightsMissing',
    message:
      `The function may not look after NatsCluster ${namespace}/${name} (${message}). Its ` +
      `servers go on, and nobody looks after them. Grant it its rights there: ${command}`,
  };
}
