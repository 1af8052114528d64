// Whose an object is that has the name of one of ours. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { Cluster } from './cluster.ts';

/** Not that of somebody else, nor of a NatsCluster of the same name that is gone. */
export const isOurs = ({ metadata }: KubeObject, { uid }: Pick<Cluster, 'uid'>): boolean =>
  (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);

export const nameTaken = ({ kind, metadata }: KubeObject): Reason => ({
  reason: 'NameTaken',
  message:
    `${kind} ${metadata.name} is there already and is not ours; delete it, or choose another ` +
    'name.',
});
