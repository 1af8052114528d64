// The rolling restart: one server at a time, followers first and the meta leader last, and none
// before all the others are whole without it. The status records the server before its pod is
// deleted, and no other is restarted before it is back and current. Pure.
import type { Restarting } from '../../shared/api/nats-cluster.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { joined, waitFor } from '../../shared/stateful/decision.ts';
import type { Pod } from '../../shared/stateful/pods.ts';
import type { Decision } from './decision.ts';
import { blockersOf } from './safety.ts';
import { needsRestart } from './reload.ts';
import { byOrdinal, expected, isPodCurrent, isUp, podOf, recordsOf, type State } from './state.ts';

/** A server that is not back by then is reported as trouble; the rollout still waits for it. */
const BACK_WITHIN_MS = 600_000;

/** Restarts the next server whose pod is outdated. */
export function roll(state: State): Decision | undefined {
  const pod = nextOf(state);
  return pod === undefined ? undefined : takeAway(state, pod);
}

/** Servers that are down come first, then the highest ordinals, and the meta leader last. */
function nextOf(state: State): Pod | undefined {
  const leader = state.nats.meta?.leader;
  const order = expected(state)
    .filter((one) => isOutdated(state, one))
    .toSorted((a, b) => Number(isUp(state, a)) - Number(isUp(state, b)) || byOrdinal(b, a));
  const server = order.find((one) => one !== leader) ?? order[0];
  return server === undefined ? undefined : podOf(state, server);
}

const isOutdated = (state: State, server: string): boolean =>
  podOf(state, server) !== undefined &&
  (!isPodCurrent(state, server) || needsRestart(state, server));

function takeAway(state: State, { name: server, uid }: Pod): Decision {
  const next = `Restart ${server}`;
  const reasons = blockersOf(state, server);
  if (reasons.length > 0) return waitFor(next, reasons);
  const handOver = stepDown(state, server);
  if (handOver !== undefined) return handOver;
  const changed = isPodCurrent(state, server) ? 'configuration' : 'pod template';
  const restarting = {
    server,
    podUid: uid,
    reason: `Its ${changed} is another one now.`,
    since: timestamp(state.nowMs),
  };
  return { step: { type: 'write-records', records: { ...recordsOf(state), restarting } }, next };
}

/** The meta leader hands over first, to a server that need not restart itself if there is one. */
function stepDown(state: State, server: string): Decision | undefined {
  if (state.nats.meta?.leader !== server) return undefined;
  const others = expected(state).filter((one) => one !== server);
  const to = others.find((one) => isPodCurrent(state, one)) ?? others[0];
  return { step: { type: 'step-down', from: server, to }, next: `Let ${server} step down` };
}

/** Finishes the restart that the status records. */
export function restart(state: State): Decision | undefined {
  const { restarting } = state.cluster.status;
  if (restarting === undefined) return undefined;
  const { server, podUid, since } = restarting;
  const next = `Restart ${server}`;
  const pod = podOf(state, server);
  const isWanted = isOutdated(state, server);
  if (pod?.uid === podUid && !pod.isEnding) {
    return isWanted ? goOn(state, pod, restarting) : forget(state, next);
  }
  // The new pod may have been made from an outdated template, and then is made anew once more.
  const isAnother = pod !== undefined && pod.uid !== podUid && !pod.isEnding;
  if (isAnother && isWanted && !isUp(state, server)) return takeAway(state, pod);
  const lacking = blockersOf(state);
  if (lacking.length === 0) return forget(state, next);
  const isLate = state.nowMs - Date.parse(since) > BACK_WITHIN_MS;
  return waitFor(next, lacking, isLate ? rolloutPaused(server, since, lacking) : undefined);
}

/** The restart is recorded and nothing is deleted yet, so all blockers are checked once more. */
function goOn(state: State, pod: Pod, { server, reason }: Restarting): Decision {
  const next = `Restart ${server}`;
  const reasons = blockersOf(state, server);
  if (reasons.length > 0) return waitFor(next, reasons);
  return stepDown(state, server) ?? { step: { type: 'restart', pod, reason }, next };
}

function forget(state: State, next: string): Decision {
  const { restarting: _, ...records } = recordsOf(state);
  return { step: { type: 'write-records', records }, next };
}

function rolloutPaused(server: string, since: string, lacking: readonly Reason[]): Reason {
  const left = joined(lacking);
  const message = `${server} was restarted at ${since} and is not back as it should be. ${left}`;
  return { reason: 'RolloutPaused', message };
}
