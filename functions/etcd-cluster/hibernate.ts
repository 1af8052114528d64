// Hibernation: with `replicas: 0` no member runs, and every claim stays. All peers are told at
// once, for there is no quorum to keep, and all come back together with their data. Pure.
import { waitFor } from '../../shared/stateful/decision.ts';
import type { Decision } from './decision.ts';
import { claimEnding } from './safety.ts';
import { claimOf, podOf, type State } from './state.ts';

export function hibernate(state: State): Decision | undefined {
  const { cluster, peers } = state;
  const isWanted = cluster.spec.replicas === 0;
  const peer = peers.find(({ spec }) => spec.running === isWanted);
  const next = isWanted ? 'Hibernate' : 'Wake up';
  const ending = isWanted ? peers.map(({ name }) => claimOf(state, name)) : [];
  const claim = ending.find((one) => one?.isEnding === true);
  if (claim !== undefined && peer !== undefined) {
    const trouble = claimEnding(claim.name);
    return waitFor(next, [trouble], trouble);
  }
  if (peer !== undefined) {
    const spec = { ...peer.spec, running: !isWanted };
    return { step: { type: 'update-peer', peer, spec }, next: `${next}: ${peer.name}` };
  }
  if (!isWanted) return undefined;
  const running = peers.find(({ name }) => podOf(state, name) !== undefined);
  if (running === undefined) return { next: 'Nothing' };
  const message = `The pod of ${running.name} ends.`;
  return waitFor(next, [{ reason: 'PeerEnding', message }]);
}
