// Old servers leave one after the other, each once the clients of the one before are connected
// again. Before the first one goes it is noted that nothing leads back. Pure.
import type { MovingServer } from '../../../shared/api/takeover.ts';
import { timestamp } from '../../../shared/kube/timestamp.ts';
import { waitFor } from '../../../shared/stateful/decision.ts';
import type { Records } from '../records.ts';
import type { NatsDecision } from './decision.ts';
import { makerOf } from './made/makers.ts';
import { clientsOf, isFreshKnown } from './mesh.ts';
import type { FoundServer, NatsState } from './state.ts';
import { hasWayBack, withoutWayBack } from '../way-back.ts';

/** Libraries try again each two seconds or so; a client that is not back by then is gone. */
const BACK_WITHIN_MS = 60_000;

const ofMoving = ({ pods }: NatsState, moving: MovingServer | undefined): FoundServer | undefined =>
  pods.find(({ uid }) => uid === moving?.uid);

/** As many are connected as were before it left. */
function areBack(state: NatsState, moving: MovingServer | undefined): boolean {
  if (moving === undefined) return true;
  if (ofMoving(state, moving) !== undefined) return false;
  const isOver = state.nowMs - Date.parse(moving.since) >= BACK_WITHIN_MS;
  return isOver || (isFreshKnown(state) && clientsOf(state) >= moving.clients);
}

export const areMoved = (state: NatsState, { work }: Records): boolean =>
  state.pods.length === 0 && state.legacy?.replicas === 0 && areBack(state, work.moving);

export function moveClients(state: NatsState, { work, steps }: Records): NatsDecision {
  const { moving } = work;
  const leaving = ofMoving(state, moving);
  if (leaving !== undefined) return end(state, leaving);
  if (!areBack(state, moving)) {
    const next = `Let the clients of ${moving?.pod ?? ''} come back`;
    const message =
      `${clientsOf(state)} clients are connected, and ${moving?.clients ?? 0} were before. It ` +
      'goes on when they are back, or after a minute.';
    return waitFor(next, [{ reason: 'ClientsAway', message }]);
  }
  const server = makerOf(state.takeover.spec.legacy).nextOf(state.pods);
  if (server === undefined) return endNobody(state, { work, steps });
  const now = timestamp(state.nowMs);
  const next = { pod: server.name, uid: server.uid, clients: clientsOf(state), since: now };
  const noted = { ...withoutWayBack(work, state.nowMs), moving: next };
  return {
    step: { type: 'write-records', records: { work: noted, steps } },
    next: `Let ${server.name} leave`,
  };
}

function end({ takeover, legacy }: NatsState, server: FoundServer): NatsDecision {
  const next = `Let ${server.name} leave`;
  const step = legacy && makerOf(takeover.spec.legacy).leave(server, legacy);
  if (step !== undefined) return { step, next };
  const message = `Pod ${server.name} is being deleted.`;
  return waitFor(next, [{ reason: 'Ending', message }]);
}

/** No pod is left, and more would be made. */
function endNobody(state: NatsState, { work, steps }: Records): NatsDecision {
  const next = 'Let no pod come back';
  const { legacy } = state;
  if (legacy === undefined || legacy.replicas === 0) return waitFor(next, []);
  if (hasWayBack(work)) {
    const noted = withoutWayBack(work, state.nowMs);
    return { step: { type: 'write-records', records: { work: noted, steps } }, next };
  }
  const { uid, resourceVersion } = legacy;
  return { step: { type: 'scale-down', uid, resourceVersion, replicas: 0 }, next };
}
