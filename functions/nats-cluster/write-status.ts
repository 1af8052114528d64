// Writes the status of a cluster, only when it changed. Records are written on condition that the
// object is as it was read: of two instances at once, one gets a conflict and reconciles again.
import { NATS_CLUSTERS } from '../../shared/api/nats-cluster.ts';
import { cut } from '../../shared/cut.ts';
import { type ConditionInput, setConditions } from '../../shared/kube/conditions.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { writeStatus } from '../../shared/kube/status.ts';
import { announceOn } from './announce.ts';
import type { Cluster } from './cluster.ts';
import { recordsOf, type State, type Records } from './state.ts';
import type { Decision } from './decision.ts';
import type { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { type StatusUpdate, statusUpdateOf } from './status.ts';

/** The API's conventions allow 32,768 characters; a person reads less. */
const MESSAGE_BYTES_MAX = 2_000;

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
  const shown = await writeConditions(deps, { cluster, nowMs }, update, signal);
  const trouble = shown.find(({ type, status }) => type === 'Degraded' && status === 'True');
  if (trouble !== undefined && isNew(cluster, trouble)) {
    const { reason, message } = trouble;
    await announceOn(cluster, { type: 'Warning', reason, message }, deps, signal);
  }
}

/**
 * Writes that nothing could be observed: records stay, and Ready becomes Unknown. There is no
 * Event: a function without rights to read may not create one there either.
 */
export async function updateStatusUnobserved(
  deps: Deps,
  cluster: Cluster,
  reason: Reason,
  signal: AbortSignal,
): Promise<void> {
  const { conditions: _, ...before } = cluster.status;
  const status = { ...before, plan: { next: 'Look at the servers', waitsFor: reason.message } };
  const conditions = [
    { type: 'Ready', status: 'Unknown', ...reason },
    { type: 'Progressing', status: 'False', ...reason },
    { type: 'Degraded', status: 'True', ...reason },
  ] as const;
  await writeConditions(
    deps,
    { cluster, nowMs: deps.clock.nowMs() },
    { status, conditions },
    signal,
  );
}

async function writeConditions(
  deps: Deps,
  { cluster: { object, generation }, nowMs }: Pick<State, 'cluster' | 'nowMs'>,
  { status, conditions }: Pick<StatusUpdate, 'conditions'> & { readonly status: object },
  signal: AbortSignal,
): Promise<readonly ConditionInput[]> {
  const moment = { fieldManager: FIELD_MANAGER, observedGeneration: generation, nowMs };
  const shown = conditions.map((one) => ({ ...one, message: cut(one.message, MESSAGE_BYTES_MAX) }));
  await writeStatus(deps.kube, {
    ref: NATS_CLUSTERS,
    object,
    status: { ...status, conditions: setConditions(object, shown, moment) },
    fieldManager: FIELD_MANAGER,
    ifUnmoved: true,
    signal,
  });
  return shown;
}

/** True for the first report of a reason, and again with another reason or another spec. */
function isNew({ status, generation }: Cluster, { reason }: ConditionInput): boolean {
  const before = status.conditions?.find(({ type }) => type === 'Degraded');
  const isSame = before?.status === 'True' && before.reason === reason;
  return !isSame || status.observedGeneration !== generation;
}
