// Writes the status of a peer, and the Events that tell of its steps.
import { ETCD_PEERS } from '../../shared/api/etcd-peer.ts';
import type { ObjectEvent } from '../../shared/kube/event-recorder.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import {
  recordEventOn,
  reportStatus,
  reportUnobserved,
  type StatusWriter,
} from '../../shared/stateful/write-status.ts';
import type { Decision } from './decision.ts';
import type { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import type { Peer } from './peer.ts';
import { recordsOf, type Records, type State } from './state.ts';
import { statusUpdateOf } from './status.ts';

interface UpdateOptions {
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
  const { peer, nowMs } = state;
  const update = statusUpdateOf(state, decision, records);
  await reportStatus(writerOf(deps), peer.object, update, { nowMs, signal });
}

export async function updateStatusUnobserved(
  deps: Deps,
  { object }: Peer,
  reason: Reason,
  signal: AbortSignal,
): Promise<void> {
  await reportUnobserved(writerOf(deps), object, { ...reason, unknown: ['Ready'] }, signal);
}

export async function recordStepEvent(
  deps: Deps,
  { object }: Peer,
  event: ObjectEvent,
  signal: AbortSignal,
): Promise<void> {
  await recordEventOn(writerOf(deps), object, event, signal);
}

const writerOf = ({ kube, clock }: Deps): StatusWriter => ({
  kube,
  clock,
  ref: ETCD_PEERS,
  fieldManager: FIELD_MANAGER,
});
