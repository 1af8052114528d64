// Old servers leave one after the other, each once the clients of the one before are connected
// again. Before the first one goes it is noted that nothing leads back. Pure.
import type { MovingServer, TakeoverWork } from '../../../shared/api/takeover.ts';
import { timestamp } from '../../../shared/kube/timestamp.ts';
import { waitFor } from '../../../shared/stateful/decision.ts';
import type { Records } from '../records.ts';
import type { NatsDecision } from './decision.ts';
import type { Leaving } from './end-server.ts';
import { makerOf } from './made/makers.ts';
import { clientsOf, isFreshKnown } from './mesh.ts';
import { answersOf, type FoundServer, type NatsState } from './state.ts';
import { hasWayBack, noteNoWayBack } from '../way-back.ts';

/** Libraries try again each two seconds or so; a client that is not back by then is gone. */
const BACK_WITHIN_MS = 60_000;

const ofMoving = ({ pods }: NatsState, moving: MovingServer | undefined): FoundServer | undefined =>
  pods.find(({ uid }) => uid === moving?.uid);

const isLate = ({ nowMs }: NatsState, { since }: MovingServer): boolean =>
  nowMs - Date.parse(since) >= BACK_WITHIN_MS;

/**
 * The first server has left, and none of its clients is connected again: the new ones may refuse
 * them, and would refuse all others.
 */
function isNoneBack(state: NatsState, { servers = [], moving }: TakeoverWork): boolean {
  if (moving?.own === undefined || moving.own === 0) return false;
  const isFirst = state.pods.length > 0 && state.pods.length === servers.length - 1;
  return isFirst && clientsOf(state) <= moving.clients - moving.own;
}

/** As many are connected as were before it left; those that are late are gone. */
function areBack(state: NatsState, work: TakeoverWork): boolean {
  const { moving } = work;
  if (moving === undefined) return true;
  if (ofMoving(state, moving) !== undefined) return false;
  if (isLate(state, moving)) return !isNoneBack(state, work);
  return isFreshKnown(state) && clientsOf(state) >= moving.clients;
}

export const areMoved = (state: NatsState, { work }: Records): boolean =>
  state.pods.length === 0 && state.legacy?.replicas === 0 && areBack(state, work);

function awaitClients(state: NatsState, moving: MovingServer): NatsDecision {
  const { pod, clients, own = 0 } = moving;
  const next = `Let the clients of ${pod} come back`;
  const counted = `${clientsOf(state)} clients are connected, and ${clients} were before`;
  if (!isLate(state, moving)) {
    const message = `${counted}. It goes on when they are back, or after a minute.`;
    return waitFor(next, [{ reason: 'ClientsAway', message }]);
  }
  const { nextOf, words } = makerOf(state.takeover.spec.legacy);
  const server = nextOf(state.pods);
  const by = server === undefined ? '.' : `: ${words.endsBy(state.takeover, server)}`;
  const message =
    `${counted}: of ${own} that ${pod} had none is back after a minute, so no other server ` +
    'leaves. See what the new servers log of them, such as logins that they refuse, and it goes ' +
    `on when one is back. If they are gone for good, end the next old server yourself${by}`;
  const trouble = { reason: 'ClientsAway', message };
  return waitFor(next, [trouble], trouble);
}

export function moveClients(state: NatsState, { work, steps }: Records): NatsDecision {
  const { moving } = work;
  const leaving = ofMoving(state, moving);
  if (leaving !== undefined) return end(state, leaving);
  if (moving !== undefined && !areBack(state, work)) return awaitClients(state, moving);
  const server = makerOf(state.takeover.spec.legacy).nextOf(state.pods);
  if (server === undefined) return endNobody(state, { work, steps });
  const { leaveRefused } = state;
  const letsLeave = `Let ${server.name} leave`;
  if (leaveRefused !== undefined) return waitFor(letsLeave, [leaveRefused], leaveRefused);
  const now = timestamp(state.nowMs);
  const { name: pod, uid } = server;
  const own = answersOf(state).find((one) => one.pod === pod)?.answer.clients ?? 0;
  const next = { pod, uid, clients: clientsOf(state), own, since: now };
  const records = { work: { ...work, moving: next }, steps };
  return noteNoWayBack(records, state.nowMs, letsLeave);
}

function end({ takeover, legacy }: NatsState, server: FoundServer): NatsDecision {
  const next = `Let ${server.name} leave`;
  const step = legacy && makerOf(takeover.spec.legacy).leave(server, legacy);
  if (step !== undefined) return { step, next };
  const message = server.isEnding
    ? `Pod ${server.name} is being deleted.`
    : `Pod ${server.name} is to go, and the controller of StatefulSets has not ended it yet.`;
  return waitFor(next, [{ reason: 'Ending', message }]);
}

/** As it would be taken now. */
export function firstLeaving({ takeover, pods, legacy }: NatsState): Leaving | undefined {
  const { nextOf, leave } = makerOf(takeover.spec.legacy);
  const server = nextOf(pods);
  return server && legacy && leave(server, legacy);
}

/** No pod is left, and more would be made. */
function endNobody(state: NatsState, { work, steps }: Records): NatsDecision {
  const next = 'Let no pod come back';
  const { legacy } = state;
  if (legacy === undefined || legacy.replicas === 0) return waitFor(next, []);
  if (hasWayBack(work)) {
    return noteNoWayBack({ work, steps }, state.nowMs, next);
  }
  const { uid, resourceVersion } = legacy;
  return { step: { type: 'scale-down', uid, resourceVersion, replicas: 0 }, next };
}
