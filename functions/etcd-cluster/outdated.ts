// Whether members are as the spec says. Pure.
import { isAsWanted } from './peer-spec.ts';
import { type Peer, podOf, type State } from './state.ts';
import { isInMemory } from './starts.ts';

export const isOutdated = (state: State, peer: Peer): boolean =>
  !isAsWanted(state, peer) || !isRendered(peer) || !isPodCurrent(state, peer);

/** etcd-peer has brought the spec to the StatefulSet. */
export const isRendered = ({ generation, status }: Peer): boolean =>
  status.observedGeneration === generation;

export const isPodCurrent = (state: Pick<State, 'pods'>, { name, status }: Peer): boolean => {
  const pod = podOf(state, name);
  return pod === undefined || pod.templateHash === status.templateHash;
};

/** A member in memory loses its data when it is restarted, so another one comes in its place. */
export const mustReplace = (state: State, peer: Peer): boolean =>
  isInMemory(state) &&
  (!isAsWanted(state, peer) || (isRendered(peer) && !isPodCurrent(state, peer)));
