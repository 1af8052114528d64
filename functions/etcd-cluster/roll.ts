// Brings another spec to the members one at a time: followers first, the leader last, after it has
// handed over. One is written its new spec, and restarted when its pod template is another one; the
// next one follows when all are healthy again. Pure.
import type { RestartingMember } from '../../shared/api/etcd-cluster.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { joined, waitFor } from '../../shared/stateful/decision.ts';
import type { Pod } from '../../shared/stateful/pods.ts';
import type { Decision } from './decision.ts';
import { moveLeader } from './move-leader.ts';
import { isOutdated, isPodCurrent, isRendered } from './outdated.ts';
import { isAsWanted, wantedSpec } from './peer-spec.ts';
import { forget, remember } from './records.ts';
import { AT_RISK, awayReason, blockersOf, restartBlockers } from './safety.ts';
import { isInMemory } from './starts.ts';
import {
  byOrdinal,
  leaderOf,
  memberOf,
  type Peer,
  peerOf,
  podOf,
  type State,
  votersOf,
} from './state.ts';
import { imageGate } from './upgrade.ts';

/** A member reads its log when it starts; one that takes longer may never come. */
const BACK_WITHIN_MS = 600_000;

/** A member whose spec or pod is not as it should be. Those in memory are replaced. */
export function roll(state: State): Decision | undefined {
  if (isInMemory(state)) return undefined;
  const outdated = state.peers.filter((peer) => isOutdated(state, peer));
  const leader = leaderOf(state);
  const leads = ({ name }: Peer): number => (memberOf(state, name)?.id === leader?.id ? 1 : 0);
  const [peer] = outdated.toSorted((a, b) => leads(a) - leads(b) || byOrdinal(a.name, b.name));
  if (peer === undefined) return undefined;
  const decision = takeAway(state, peer);
  const isTooMany = votersOf(state).length > state.cluster.spec.replicas;
  // Two members on their way to one: the other goes first.
  return isTooMany && decision.waitsFor?.reason === AT_RISK ? undefined : decision;
}

/** Tells its peer the new spec, then records its pod, so that it is restarted. */
function takeAway(state: State, peer: Peer): Decision {
  const next = `Restart ${peer.name}`;
  const reasons = restartBlockers(state, memberOf(state, peer.name)?.id);
  if (reasons.length > 0) return waitFor(next, reasons);
  if (!isAsWanted(state, peer)) {
    return { step: { type: 'update-peer', peer, spec: wantedSpec(state, peer) }, next };
  }
  const pod = podOf(state, peer.name);
  if (pod === undefined || !isRendered(peer)) {
    const message = `The StatefulSet of ${peer.name} has to get the new template.`;
    return waitFor(next, [{ reason: 'TemplatePending', message }]);
  }
  return moveLeader(state, peer.name, next) ?? recordRestart(state, peer, pod, next);
}

/** Nobody relies on the first member of all, or on a learner: an edit reaches it without a turn. */
export function correct(state: State, peer: Peer, next: string): Decision | undefined {
  if (!isAsWanted(state, peer)) {
    return { step: { type: 'update-peer', peer, spec: wantedSpec(state, peer) }, next };
  }
  const pod = podOf(state, peer.name);
  if (pod === undefined || pod.isEnding || !isRendered(peer)) return undefined;
  if (isPodCurrent(state, peer)) return undefined;
  return { step: { type: 'restart', pod, reason: OTHER_TEMPLATE }, next };
}

const OTHER_TEMPLATE = 'Its pod template is another one now.';

function recordRestart(state: State, { name: peer }: Peer, { uid }: Pod, next: string): Decision {
  const restarting = {
    peer,
    podUid: uid,
    reason: OTHER_TEMPLATE,
    since: timestamp(state.nowMs),
  };
  return remember(state, { restarting }, next);
}

/** Finishes the restart that the status records. */
export function restart(state: State): Decision | undefined {
  const { restarting } = state.cluster.status;
  if (restarting === undefined) return undefined;
  const { peer: name, podUid, since } = restarting;
  const next = `Restart ${name}`;
  const pod = podOf(state, name);
  const peer = peerOf(state, name);
  if (peer !== undefined && pod?.uid === podUid && !pod.isEnding) {
    return isPodCurrent(state, peer)
      ? forget(state, ['restarting'], next)
      : goOn(state, pod, restarting);
  }
  // The new pod does not run either, and the spec has another one for it by now.
  if (peer !== undefined && pod?.isEnding === false && isOutdated(state, peer)) {
    return takeAway(state, peer);
  }
  const lacking = blockersOf(state);
  if (lacking.length === 0) return forget(state, ['restarting'], next);
  const isLate = state.nowMs - Date.parse(since) > BACK_WITHIN_MS;
  return waitFor(next, lacking, isLate ? rolloutPaused(state, restarting, lacking) : undefined);
}

/** The restart is recorded and nothing is deleted yet, so all blockers are checked once more. */
function goOn(state: State, pod: Pod, { peer, reason }: RestartingMember): Decision {
  const next = `Restart ${peer}`;
  const reasons = restartBlockers(state, memberOf(state, peer)?.id);
  const [first] = reasons;
  // Another one was lost meanwhile: nothing is deleted yet, and more members come first.
  if (first?.reason === AT_RISK) return forget(state, ['restarting'], `${next}: leave it off`);
  if (first !== undefined) return waitFor(next, reasons);
  return moveLeader(state, peer, next) ?? { step: { type: 'restart', pod, reason }, next };
}

/** All else is done before it is told. */
export function refuseImage(state: State): Decision | undefined {
  const gate = imageGate(state);
  if (gate === undefined) return undefined;
  const { why, isPassing } = gate;
  const next = `Change the image to ${state.cluster.spec.image}`;
  return waitFor(next, [why], isPassing ? undefined : why);
}

function rolloutPaused(
  state: State,
  { peer, since }: RestartingMember,
  lacking: readonly Reason[],
): Reason {
  const why = podOf(state, peer)?.isReady === true ? '' : ` ${awayReason(state, peer).message}`;
  const message = `${peer} was restarted at ${since} and is not back.${why} ${joined(lacking)}`;
  return { reason: 'RolloutPaused', message };
}
