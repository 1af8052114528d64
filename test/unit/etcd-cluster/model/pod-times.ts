// When the pods of the model are ready, and how long a learner takes.
import type { KubeObject } from '../../../../shared/kube/objects.ts';

/** Ticks until a learner has what the others have. */
export const CATCH_UP_TICKS = 2;

/** As the kubelet writes it into the status of a pod. */
export const ready = { conditions: [{ type: 'Ready', status: 'True' }] };

export const unready = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };

/** The last words of an etcd that cannot read its log. */
const DAMAGED = '"error":"walpb: crc mismatch"';
/** Those of one without data that is told of nobody who knows the others. */
export const FINDS_NOBODY = 'could not retrieve cluster information from the given URLs';

export function endedAgain(pod: KubeObject, message = DAMAGED) {
  const { containerStatuses = [] } = (pod['status'] ?? {}) as {
    readonly containerStatuses?: readonly { readonly restartCount: number }[];
  };
  const restartCount = (containerStatuses[0]?.restartCount ?? -1) + 1;
  const state = { waiting: { reason: 'CrashLoopBackOff' } };
  const lastState = { terminated: { exitCode: 1, message } };
  const { status } = unready;
  return { status: { ...status, containerStatuses: [{ restartCount, state, lastState }] } };
}
