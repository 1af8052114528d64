// The end of a server that scale.ts took away: its Raft peer is removed from the meta group, and
// only then its claim is deleted, the recorded one and no other. Pure.
import type { Leaving } from '../../shared/api/nats-cluster.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import { ordinalOf } from './cluster.ts';
import type { Decision } from './decision.ts';
import { blockersOf } from './safety.ts';
import { podOf, recordsOf, sizeOf, type State } from './state.ts';

/** Finishes the removal that the status records, once the StatefulSet is without the server. */
export function leave(state: State): Decision | undefined {
  const { leaving } = state.cluster.status;
  if (leaving === undefined) return undefined;
  const { server } = leaving;
  const next = `Take ${server} away`;
  const size = sizeOf(state.parts) ?? 0;
  if (size > ordinalOf(server)) return withdraw(state, next);
  const pod = podOf(state, server);
  if (pod !== undefined) {
    return waitFor(next, [
      { reason: 'ServerEnding', message: `${server} sends its clients away.` },
    ]);
  }
  return forget(state, leaving, next);
}

/** Drops the record when the spec wants the server again and nothing has been done yet. */
function withdraw(state: State, next: string): Decision | undefined {
  const size = sizeOf(state.parts) ?? 0;
  if (size > state.cluster.spec.replicas) return undefined;
  const { leaving: _, ...records } = recordsOf(state);
  return { step: { type: 'write-records', records }, next };
}

/** Removes the peer, then the claim, then the record. */
function forget(state: State, leaving: Leaving, next: string): Decision {
  const { server, claim: name, claimUid } = leaving;
  const { meta } = state.nats;
  if (meta === undefined) {
    const message = "JetStream's meta group has no leader.";
    return waitFor(next, [{ reason: 'NoMetaLeader', message }]);
  }
  // A new leader may not know the names of servers that are down: by name alone it could be
  // another.
  const peer = meta.peers.find((one) => one.peerId === leaving.peerId || one.server === server);
  if (peer !== undefined) {
    return { step: { type: 'remove-peer', server, peerId: peer.peerId }, next };
  }
  const reasons = blockersOf(state);
  if (reasons.length > 0) return waitFor(next, reasons);
  const claim = state.parts.claims.find((one) => one.name === name && one.uid === claimUid);
  if (claim !== undefined && !claim.isEnding) {
    return { step: { type: 'delete-claim', claim, server }, next };
  }
  const { leaving: _, ...records } = recordsOf(state);
  return { step: { type: 'write-records', records }, next };
}
