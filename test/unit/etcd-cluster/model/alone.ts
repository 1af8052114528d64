// A member that is forced to go on alone, and the rules for it: once for each loss, and only when
// none of the others could go on without knowing of it.
import { CLUSTER_ID_ANNOTATION } from '../../../../shared/api/etcd-peer.ts';
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import type { DataModel, MemberModel } from './shapes.ts';

interface ContainerModel {
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
}

export function containerOf(pod: KubeObject): ContainerModel {
  const { containers } = pod['spec'] as { readonly containers: readonly ContainerModel[] };
  return containers[0] ?? { image: '', args: [] };
}

/** The part of the model that it is about. */
interface Forgetting {
  readonly members: Map<string, MemberModel>;
  forced: number;
  objects(resource: string): readonly KubeObject[];
}

/** It forgets the others. */
export function goOnAlone(model: Forgetting, member: MemberModel, { isAlone }: DataModel): void {
  const { id, name } = member;
  if (model.members.size === 1 && !isAlone) throw new Error(`${name} was forced after it served`);
  const pods = model.objects('pods').filter(({ metadata }) => metadata.name !== `${name}-0`);
  if (pods.length > 0) throw new Error(`${name} was forced beside ${pods.length} pods`);
  for (const { metadata } of model.objects('persistentvolumeclaims')) {
    const mark = metadata.annotations?.[CLUSTER_ID_ANNOTATION] ?? '';
    if (metadata.name !== `data-${name}` && /^[0-9a-f]+$/.test(mark)) {
      throw new Error(`${name} was forced while ${metadata.name} could be brought back`);
    }
  }
  model.forced += isAlone ? 0 : 1;
  model.members.clear();
  model.members.set(id, member);
}
