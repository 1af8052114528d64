// Replaces a lost volume: the server starts again with an empty one and gets its streams from the
// others. Only when these are whole without it, once for each lost claim, and recorded in the
// status before anything is deleted. Pure.
import type { Replacing } from '../../shared/api/nats-cluster.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import type { Pod } from '../../shared/stateful/pods.ts';
import { claimName } from './cluster.ts';
import type { Decision } from './decision.ts';
import { blockersOf } from './safety.ts';
import { expected, isUp, podOf, recordsOf, type State } from './state.ts';

export function replace(state: State): Decision | undefined {
  const { replacing, restarting, leaving } = state.cluster.status;
  if (replacing !== undefined) return goOn(state, replacing);
  const server = expected(state).find((one) => state.parts.lost.has(one) && !isUp(state, one));
  // Changes under way for other servers wait for this one, so it does not wait for them.
  const isOthersTurn = restarting !== undefined && restarting.server !== server;
  if (server === undefined || isOthersTurn || leaving !== undefined) return undefined;
  const next = `Replace the volume of ${server}`;
  const reasons = blockersOf(state, server);
  const pod = podOf(state, server);
  const claim = state.parts.claims.find(({ name }) => name === claimName(server));
  if (reasons.length > 0) return waitFor(next, reasons);
  if (pod === undefined || claim === undefined) return undefined;
  const record = {
    server,
    podUid: pod.uid,
    claim: claim.name,
    claimUid: claim.uid,
    reason: state.parts.lost.get(server) ?? '',
    since: timestamp(state.nowMs),
  };
  const records = { ...recordsOf(state), replacing: record };
  return { step: { type: 'write-records', records }, next };
}

/** Deletes the claim, then the pod that holds it; the StatefulSet makes both anew. */
function goOn(state: State, replacing: Replacing): Decision {
  const { server, podUid, claimUid, reason } = replacing;
  const next = `Replace the volume of ${server}`;
  const claim = state.parts.claims.find(({ uid }) => uid === claimUid);
  const pod = podOf(state, server);
  const isOldPod = pod?.uid === podUid;
  if (claim !== undefined || isOldPod) {
    const reasons = blockersOf(state, server);
    if (reasons.length > 0) return waitFor(next, reasons);
  }
  if (claim !== undefined && !claim.isEnding) {
    return { step: { type: 'delete-claim', claim, server }, next };
  }
  if (pod !== undefined && isOldPod && !pod.isEnding) {
    return { step: { type: 'delete-pod', pod, reason }, next };
  }
  const { replacing: _, ...records } = recordsOf(state);
  if (pod !== undefined && isWithoutClaim(state, pod)) {
    const record = { ...replacing, podUid: pod.uid };
    return { step: { type: 'write-records', records: { ...records, replacing: record } }, next };
  }
  const lacking = blockersOf(state);
  if (lacking.length > 0) return waitFor(next, lacking);
  return { step: { type: 'write-records', records }, next };
}

/**
 * The StatefulSet controller made this pod just before the old claim was gone. It makes the missing
 * claim only when something wakes it, and nothing does: the scheduler looks again after five
 * minutes. The pod has to be made anew, with its claim.
 */
const isWithoutClaim = ({ parts }: State, { name, placelessSince, isEnding }: Pod): boolean =>
  placelessSince !== undefined &&
  !isEnding &&
  !parts.claims.some((claim) => claim.name === claimName(name));
