// Renders the spec of an EtcdPeer: the settings of its cluster, and how it starts. Pure.
import type { EtcdSettings } from '../../shared/api/etcd-cluster.ts';
import type { EtcdPeerSpec, PeerBootstrap } from '../../shared/api/etcd-peer.ts';
import { isSame } from '../../shared/hash.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import type { Decision } from './decision.ts';
import { byOrdinal, claimOf, type Peer, type State } from './state.ts';
import { ordinalOf, peerUrl } from './cluster.ts';
import { imageForNew } from './image-for-new.ts';
import { oncePerState } from './once-per-state.ts';
import { imageFor } from './upgrade.ts';

/** Only what etcd-peer and the pod read: other fields of a cluster restart nobody. */
function settingsOf({ cluster: { spec } }: Pick<State, 'cluster'>): EtcdSettings {
  const { image, storage, tls, quota, compaction, heartbeatMilliseconds } = spec;
  const { electionMilliseconds, snapshotCount, resources, spread } = spec;
  return {
    image,
    storage,
    tls,
    quota,
    compaction,
    heartbeatMilliseconds,
    electionMilliseconds,
    snapshotCount,
    resources,
    spread,
  };
}

export function specOf(state: State, name: string, bootstrap: PeerBootstrap): EtcdPeerSpec {
  const { cluster, parts } = state;
  const { certificatesHash } = parts;
  return {
    cluster: cluster.name,
    ordinal: ordinalOf(name),
    bootstrap,
    running: cluster.spec.replicas > 0,
    ...(certificatesHash === undefined ? {} : { certificatesHash }),
    ...settingsOf(state),
  };
}

/** The spec that a peer should have; how it was recovered does not change. */
export function wantedSpec(state: State, peer: Peer): EtcdPeerSpec {
  const { name, spec } = peer;
  const { recovery } = spec;
  const kept = recovery === undefined ? {} : { recovery };
  return {
    ...specOf(state, name, bornBootstrap(state, peer)),
    ...kept,
    image: imageFor(state, peer),
  };
}

/**
 * Once its data is known no member starts without that: in a pod that is told to be born the first
 * comes up empty on a volume that was emptied, and in one with the list of all members another one
 * joins again, under the ids that they had (seen on 3.6.16). Told of itself alone it ends. A peer
 * that has no start in the Secret, because it was made before there was one, is told here.
 */
function bornBootstrap(state: State, { name, spec: { bootstrap } }: Peer): PeerBootstrap {
  const { clusterId } = state.cluster.status;
  if (bootstrap.start !== undefined) return bootstrap;
  const isBorn = clusterId !== undefined && claimOf(state, name)?.clusterId === clusterId;
  return isBorn ? { ...existingBootstrap(state, [name]), token: bootstrap.token } : bootstrap;
}

const compared = oncePerState(() => new Map<Peer, boolean>());

export function isAsWanted(state: State, peer: Peer): boolean {
  const known = compared(state);
  const isWanted = known.get(peer) ?? isSame(peer.spec, wantedSpec(state, peer));
  known.set(peer, isWanted);
  return isWanted;
}

/** For the first member of all. */
export const newBootstrap = ({ cluster }: Pick<State, 'cluster'>, seed: string): PeerBootstrap => ({
  state: 'New',
  token: cluster.uid,
  initialCluster: [{ name: seed, url: peerUrl(cluster, seed) }],
  start: seed,
});

/** For a member that the others have added, or whose volume has data. */
export const existingBootstrap = (
  { cluster }: Pick<State, 'cluster'>,
  names: readonly string[],
): PeerBootstrap => ({
  state: 'Existing',
  token: cluster.uid,
  initialCluster: names.toSorted(byOrdinal).map((name) => ({ name, url: peerUrl(cluster, name) })),
});

/** A new peer is never the first to run another minor version. */
export function makePeer(
  state: State,
  name: string,
  bootstrap: PeerBootstrap,
  next: string,
): Decision {
  const image = imageForNew(state, name);
  if (typeof image !== 'string') return waitFor(next, [image], image);
  const spec = { ...specOf(state, name, bootstrap), image };
  return { step: { type: 'make-peer', name, spec }, next };
}
