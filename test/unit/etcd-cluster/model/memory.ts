// Members in memory, as the model has them: their data goes with their pod, and with the power of
// its node, after which the same pod starts again and finds nothing.
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import { PODS } from '../../../../shared/stateful/parts.ts';
import { dataOf } from '../../../../shared/stateful/certificates/secret-data.ts';
import type { KubeModel } from '../../stateful/kube-model.ts';
import { containerOf } from './alone.ts';
import { endedAgain, FINDS_NOBODY } from './pod-times.ts';
import type { DataModel, MemberModel, ProcessModel } from './shapes.ts';

/** As much of the model as this needs. */
interface EtcdModel {
  readonly kube: KubeModel;
  readonly data: Map<string, DataModel>;
  readonly processes: Map<string, ProcessModel>;
  readonly members: ReadonlyMap<string, MemberModel>;
  readonly nowMs: number;
  objects(resource: string): readonly KubeObject[];
}

interface VolumeModel {
  readonly emptyDir?: { readonly medium?: string };
}

const BEGINS = 'memory of ';
const LONG_AGO_MS = 180_000;

export function isInMemory(pod: KubeObject): boolean {
  const { volumes = [] } = pod['spec'] as { readonly volumes?: readonly VolumeModel[] };
  return volumes.some(({ emptyDir }) => emptyDir?.medium === 'Memory');
}

const memoryOf = (pod: KubeObject): string => `${BEGINS}${pod.metadata.uid}`;

/** The key of the data of a pod: the uid of its claim, once that is bound, or one of its own. */
export function placeOf({ kube }: EtcdModel, pod: KubeObject): string | undefined {
  if (isInMemory(pod)) return memoryOf(pod);
  const { namespace = '', name } = pod.metadata;
  const key = `persistentvolumeclaims/${namespace}/data-${name.replace(/-0$/, '')}`;
  const claim = kube.objects.get(key);
  const { phase } = (claim?.['status'] ?? {}) as { readonly phase?: string };
  return phase === 'Bound' ? claim?.metadata.uid : undefined;
}

/** Pods that are gone have taken it with them. */
export function forgetPods(model: EtcdModel): void {
  const pods = new Set(model.objects('pods').map(memoryOf));
  for (const key of model.data.keys()) {
    if (key.startsWith(BEGINS) && !pods.has(key)) model.data.delete(key);
  }
}

/** As the kubelet fills in variables at each start; undefined while a Secret lacks the key. */
export function argsOf({ kube }: EtcdModel, pod: KubeObject): readonly string[] | undefined {
  const { args, env = [] } = containerOf(pod);
  let filled = args;
  for (const { name, valueFrom } of env) {
    if (valueFrom === undefined) continue;
    const { name: secret, key } = valueFrom.secretKeyRef;
    const found = kube.objects.get(`secrets/${pod.metadata.namespace ?? ''}/${secret}`);
    const value = found === undefined ? undefined : dataOf(found)[key];
    if (value === undefined) return undefined;
    filled = filled.map((arg) => arg.replaceAll(`$(${name})`, value));
  }
  return filled;
}

/** Its container ends each time; a test does not wait for the two minutes of that. */
export function endAgain({ kube, nowMs }: EtcdModel, pod: KubeObject): void {
  const { namespace = '', name } = pod.metadata;
  if (!isInMemory(pod)) {
    return void kube.change(PODS, { namespace, name }, endedAgain(pod, FINDS_NOBODY));
  }
  const { containerStatuses = [] } = (pod['status'] ?? {}) as {
    readonly containerStatuses?: readonly unknown[];
  };
  if (containerStatuses.length > 0) return;
  const lastTransitionTime = new Date(nowMs - LONG_AGO_MS).toISOString();
  kube.change(
    PODS,
    { namespace, name },
    {
      status: {
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime }],
        containerStatuses: [{ state: { waiting: { reason: 'CrashLoopBackOff', message: '' } } }],
      },
    },
  );
}

export const MEMORY = { storage: { medium: 'Memory', size: '5Gi' } };

/** Somebody deletes it: another one comes, and has nothing. */
export function losePod(model: EtcdModel, peer: string): void {
  const pod = model.objects('pods').find(({ metadata }) => metadata.name === `${peer}-0`);
  if (pod === undefined) return;
  const { namespace = '', name } = pod.metadata;
  model.processes.delete(name);
  model.kube.remove(PODS, { namespace, name });
}

/** The node of a pod has no power for a moment. */
export function losePower(model: EtcdModel, peer: string): void {
  const pod = model.objects('pods').find(({ metadata }) => metadata.name === `${peer}-0`);
  if (pod === undefined) return;
  model.data.delete(memoryOf(pod));
  model.processes.delete(`${peer}-0`);
}

/**
 * A member that comes back without its data, under the id that it had. The leader takes it for one
 * that has what it had, so a learner panics; one that votes may vote twice.
 */
export function judgeRejoin({ name, isLearner }: MemberModel): undefined {
  if (!isLearner) throw new Error(`${name} came back without what it had`);
}

/** Born again under the same ids: nobody notices who has not been let in yet. */
export function judgeRebirth(model: EtcdModel): void {
  const isServed = model.objects('services').some(({ spec }) => Object(spec).clusterIP !== 'None');
  if (isServed || model.members.size > 1) throw new Error('it was born a second time');
}
