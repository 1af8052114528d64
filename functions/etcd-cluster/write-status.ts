// Writes the status of a cluster, and the Events that tell of its steps.
import { ETCD_CLUSTERS } from '../../shared/api/etcd-cluster.ts';
import type { ObjectEvent } from '../../shared/kube/event-recorder.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import {
  recordEventOn,
  reportStatus,
  reportUnobserved,
  type StatusWriter,
} from '../../shared/stateful/write-status.ts';
import type { Cluster } from './cluster.ts';
import type { Decision } from './decision.ts';
import type { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { recordsOf, type Records, type State } from './state.ts';
import { statusUpdateOf } from './status.ts';

export interface UpdateOptions {
  readonly signal: AbortSignal;
  /** The records from now on; unchanged when absent. */
  readonly records?: Records;
}

export async function updateStatus(
  deps: Deps,
  state: State,
  decision: Decision,
  { signal, records = recordsOf(state) }: UpdateOptions,
): Promise<void> {
  const { cluster, nowMs } = state;
  const { contactMs } = deps.memoryOf(cluster.uid);
  const update = statusUpdateOf(state, decision, records, contactMs);
  await reportStatus(writerOf(deps), cluster.object, update, { nowMs, signal });
}

export async function updateStatusUnobserved(
  deps: Deps,
  { object }: Cluster,
  reason: Reason,
  signal: AbortSignal,
): Promise<void> {
  const why = { ...reason, next: 'Look at the members', unknown: ['Ready', 'Quorate'] };
  await reportUnobserved(writerOf(deps), object, why, signal);
}

export async function recordStepEvent(
  deps: Deps,
  { object }: Cluster,
  event: ObjectEvent,
  signal: AbortSignal,
): Promise<void> {
  await recordEventOn(writerOf(deps), object, event, signal);
}

const writerOf = ({ kube, clock }: Deps): StatusWriter => ({
  kube,
  clock,
  ref: ETCD_CLUSTERS,
  fieldManager: FIELD_MANAGER,
});
