// A server whose volume is lost for certain starts again with an empty one, and gets its streams
// from the others: only when these are whole without it, once for each lost claim, and written
// down before anything is deleted. Pure.
import type { Replacing } from '../../shared/api/nats-cluster.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { claimName } from './cluster.ts';
import { type Decision, waitFor } from './decision.ts';
import { doubts } from './gate.ts';
import { expected, isUp, podOf, recordsOf, type World } from './world.ts';

export function replace(world: World): Decision | undefined {
  const { replacing, restarting, leaving } = world.cluster.status;
  if (replacing !== undefined) return goOn(world, replacing);
  const server = expected(world).find((one) => world.parts.lost.has(one) && !isUp(world, one));
  // What is under way elsewhere is for others: they wait for this server, and it waits for nobody.
  const isOthersTurn = restarting !== undefined && restarting.server !== server;
  if (server === undefined || isOthersTurn || leaving !== undefined) return undefined;
  const next = `Replace the volume of ${server}`;
  const reasons = doubts(world, server);
  const pod = podOf(world, server);
  const claim = world.parts.claims.find(({ name }) => name === claimName(server));
  if (reasons.length > 0) return waitFor(next, reasons);
  if (pod === undefined || claim === undefined) return undefined;
  const record = {
    server,
    podUid: pod.uid,
    claim: claim.name,
    claimUid: claim.uid,
    reason: world.parts.lost.get(server) ?? '',
    since: timestamp(world.nowMs),
  };
  const records = { ...recordsOf(world), replacing: record };
  return { step: { take: 'remember', records }, next };
}

/** The claim, then the pod that holds it; the StatefulSet makes both anew. */
function goOn(world: World, { server, podUid, claimUid, reason }: Replacing): Decision {
  const next = `Replace the volume of ${server}`;
  const claim = world.parts.claims.find(({ uid }) => uid === claimUid);
  const pod = podOf(world, server);
  const isOldPod = pod?.uid === podUid;
  if (claim !== undefined || isOldPod) {
    const reasons = doubts(world, server);
    if (reasons.length > 0) return waitFor(next, reasons);
  }
  if (claim !== undefined && !claim.isEnding) {
    return { step: { take: 'delete-claim', claim, server }, next };
  }
  if (pod !== undefined && isOldPod && !pod.isEnding) {
    return { step: { take: 'delete-pod', pod, reason }, next };
  }
  const lacking = doubts(world);
  if (lacking.length > 0) return waitFor(next, lacking);
  const { replacing: _, ...records } = recordsOf(world);
  return { step: { take: 'remember', records }, next };
}
