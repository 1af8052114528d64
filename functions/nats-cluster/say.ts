// Writes the status of a cluster, only when it says something else than before. What it remembers
// rests on the object as it was read: of two instances that remember at once, one looks again.
import { NATS_CLUSTERS } from '../../shared/api/nats-cluster.ts';
import { setConditions } from '../../shared/kube/conditions.ts';
import { writeStatus } from '../../shared/kube/status.ts';
import { recordsOf, type World } from './world.ts';
import type { Decision, Records } from './decision.ts';
import type { Doors } from './doors.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { sayingOf } from './sayings.ts';

/** What the API's conventions allow is 32,768 characters; a person reads less. */
const MESSAGE_MAX = 2_000;

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
  const shown = conditions.map((one) => ({ ...one, message: one.message.slice(0, MESSAGE_MAX) }));
  await writeStatus(doors.kube, {
    ref: NATS_CLUSTERS,
    object,
    status: { ...status, conditions: setConditions(object, shown, moment) },
    fieldManager: FIELD_MANAGER,
    ifUnmoved: true,
    signal,
  });
}
