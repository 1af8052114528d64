// Repairs the messages of one resource: lists it anew and brings them up to date, also those that
// claim to be newer than the list.
import type { EpochTask } from './deps.ts';
import type { ShownResource } from './feed.ts';
import type { ListProbe } from './list-probe.ts';
import { replay, type Replayed } from './replay.ts';
import { verifyLive } from './verify-live.ts';

export async function repairResource(
  task: EpochTask,
  resource: ShownResource,
  probe: ListProbe,
): Promise<Replayed> {
  const listed = await replay({ ...task, resource, probe }, undefined);
  const { lastSequence: before } = await task.session.stream.state(task.signal);
  const outcomes = { ...listed.outcomes };
  for (const unverifiedObject of listed.unverified) {
    for (const outcome of await verifyLive({ ...task, before }, resource, unverifiedObject))
      outcomes[outcome] += 1;
  }
  return { ...listed, unverified: [], outcomes };
}
