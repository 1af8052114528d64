// Tells whether an object with a name of ours was made for this NatsCluster. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { Cluster } from './cluster.ts';

/** False for an object of somebody else, and of a former NatsCluster of the same name. */
export const isOurs = ({ metadata }: KubeObject, { uid }: Pick<Cluster, 'uid'>): boolean =>
  (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);

export const nameTaken = ({ kind, metadata }: KubeObject): Reason => ({
  reason: 'NameTaken',
  message:
    `${kind} ${metadata.name} is there already and is not ours; delete it, or choose another ` +
    'name.',
});
