// Writes the status of a cluster, only when it says something else than before. What it remembers
// rests on the object as it was read: of two instances that remember at once, one looks again.
import { NATS_CLUSTERS } from '../../shared/api/nats-cluster.ts';
import { cut } from '../../shared/cut.ts';
import { type ConditionInput, setConditions } from '../../shared/kube/conditions.ts';
import { writeStatus } from '../../shared/kube/status.ts';
import { announceOn } from './announce.ts';
import type { Cluster } from './cluster.ts';
import { recordsOf, type World } from './world.ts';
import type { Decision, Records } from './decision.ts';
import type { Doors } from './doors.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { sayingOf } from './sayings.ts';

/** What the API's conventions allow is 32,768 characters; a person reads less. */
const MESSAGE_BYTES_MAX = 2_000;

export interface SayOptions {
  readonly signal: AbortSignal;
  /** What the status remembers from now on; as before when absent. */
  readonly records?: Records;
}

export async function write(
  doors: Doors,
  world: World,
  decision: Decision,
  { signal, records = recordsOf(world) }: SayOptions,
): Promise<void> {
  const { object, generation, uid } = world.cluster;
  const { contactMs } = doors.memoryOf(uid);
  const { status, conditions } = sayingOf(world, decision, records, contactMs);
  const moment = {
    fieldManager: FIELD_MANAGER,
    observedGeneration: generation,
    nowMs: world.nowMs,
  };
  const shown = conditions.map((one) => ({ ...one, message: cut(one.message, MESSAGE_BYTES_MAX) }));
  await writeStatus(doors.kube, {
    ref: NATS_CLUSTERS,
    object,
    status: { ...status, conditions: setConditions(object, shown, moment) },
    fieldManager: FIELD_MANAGER,
    ifUnmoved: true,
    signal,
  });
  const trouble = shown.find(({ type, status: is }) => type === 'Degraded' && is === 'True');
  if (trouble !== undefined && isNewTo(world.cluster, trouble)) {
    const { reason, message } = trouble;
    await announceOn(world.cluster, { type: 'Warning', reason, message }, doors, signal);
  }
}

/** Told once, and again when it is another matter or another spec. */
function isNewTo({ status, generation }: Cluster, { reason }: ConditionInput): boolean {
  const before = status.conditions?.find(({ type }) => type === 'Degraded');
  const isSame = before?.status === 'True' && before.reason === reason;
  return !isSame || status.observedGeneration !== generation;
}
