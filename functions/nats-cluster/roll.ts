// The rolling restart: one server at a time, followers first and the meta leader last, and none
// before all the others are whole without it. The one that may be away is written down before its
// pod is deleted, and no other is touched before it is back and current. Pure.
import type { Restarting } from '../../shared/api/nats-cluster.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { type Decision, joined, waitFor } from './decision.ts';
import { doubts } from './gate.ts';
import { needsRestart } from './reload.ts';
import {
  byOrdinal,
  expected,
  isPodCurrent,
  isUp,
  type Pod,
  podOf,
  recordsOf,
  type Word,
  type World,
} from './world.ts';

/** A server that is not back by then is named as trouble; it is waited for all the same. */
const BACK_WITHIN_MS = 600_000;

/** Servers that have to be made anew. */
export function roll(world: World): Decision | undefined {
  const pod = nextOf(world);
  return pod === undefined ? undefined : takeAway(world, pod);
}

/** Those that serve nobody first; then from the end, and who leads the meta group last. */
function nextOf(world: World): Pod | undefined {
  const leader = world.nats.meta?.leader;
  const order = expected(world)
    .filter((one) => isOutdated(world, one))
    .toSorted((a, b) => Number(isUp(world, a)) - Number(isUp(world, b)) || byOrdinal(b, a));
  const server = order.find((one) => one !== leader) ?? order[0];
  return server === undefined ? undefined : podOf(world, server);
}

const isOutdated = (world: World, server: string): boolean =>
  podOf(world, server) !== undefined &&
  (!isPodCurrent(world, server) || needsRestart(world, server));

function takeAway(world: World, { name: server, uid }: Pod): Decision {
  const next = `Restart ${server}`;
  const reasons = doubts(world, server);
  if (reasons.length > 0) return waitFor(next, reasons);
  const handOver = stepDown(world, server);
  if (handOver !== undefined) return handOver;
  const what = isPodCurrent(world, server) ? 'configuration' : 'pod template';
  const restarting = {
    server,
    podUid: uid,
    reason: `Its ${what} is another one now.`,
    since: timestamp(world.nowMs),
  };
  return { step: { take: 'remember', records: { ...recordsOf(world), restarting } }, next };
}

/** The meta leader hands over first, to one that need not go itself if there is any. */
function stepDown(world: World, server: string): Decision | undefined {
  if (world.nats.meta?.leader !== server) return undefined;
  const others = expected(world).filter((one) => one !== server);
  const to = others.find((one) => isPodCurrent(world, one)) ?? others[0];
  return { step: { take: 'step-down', from: server, to }, next: `Let ${server} step down` };
}

/** The restart that is under way, to its end. */
export function restart(world: World): Decision | undefined {
  const { restarting } = world.cluster.status;
  if (restarting === undefined) return undefined;
  const { server, podUid, since } = restarting;
  const next = `Restart ${server}`;
  const pod = podOf(world, server);
  const isWanted = isOutdated(world, server);
  if (pod?.uid === podUid && !pod.isEnding) {
    return isWanted ? goOn(world, pod, restarting) : forget(world, next);
  }
  // It may have been wrong from its start, and then has to be made anew once more.
  const isAnother = pod !== undefined && pod.uid !== podUid && !pod.isEnding;
  if (isAnother && isWanted && !isUp(world, server)) return takeAway(world, pod);
  const lacking = doubts(world);
  if (lacking.length === 0) return forget(world, next);
  const isLate = world.nowMs - Date.parse(since) > BACK_WITHIN_MS;
  return waitFor(next, lacking, isLate ? paused(server, since, lacking) : undefined);
}

/** It was written down, and nothing is deleted yet: all is looked at once more. */
function goOn(world: World, pod: Pod, { server, reason }: Restarting): Decision {
  const next = `Restart ${server}`;
  const reasons = doubts(world, server);
  if (reasons.length > 0) return waitFor(next, reasons);
  return stepDown(world, server) ?? { step: { take: 'restart', pod, reason }, next };
}

function forget(world: World, next: string): Decision {
  const { restarting: _, ...records } = recordsOf(world);
  return { step: { take: 'remember', records }, next };
}

function paused(server: string, since: string, lacking: readonly Word[]): Word {
  const what = joined(lacking);
  const message = `${server} was restarted at ${since} and is not back as it should be. ${what}`;
  return { reason: 'RolloutPaused', message };
}
