// The values that metrics show of an EtcdCluster, by the state as observed. Pure.
import type { Seen } from '../../shared/stateful/keeping.ts';
import { sinceOf } from '../../shared/stateful/servers-gauges.ts';
import type { EtcdClusterGauge } from './gauges.ts';
import { unhealthyReason } from './safety.ts';
import { type State, votersOf } from './state.ts';

export function shownOf(
  state: State,
  seen: Seen,
): Readonly<Record<EtcdClusterGauge, number | undefined>> {
  const { cluster, parts } = state;
  const voters = votersOf(state);
  return {
    voters_healthy: voters.filter((one) => unhealthyReason(state, one) === undefined).length,
    voters_wanted: cluster.spec.replicas,
    quorum_lost_since_timestamp_seconds: quorumLostSince(state, seen),
    certificate_end_timestamp_seconds: parts.servedUntilMs && parts.servedUntilMs / 1_000,
  };
}

function quorumLostSince({ cluster }: State, seen: Seen): number | undefined {
  const isQuorate = seen.conditions.some(
    ({ type, status }) => type === 'Quorate' && status === 'True',
  );
  if (isQuorate) return 0;
  // Where no member answers nobody can write either, though the condition is Unknown.
  return sinceOf(cluster, seen, 'Quorate', ({ status, reason }) => {
    return status === 'False' || reason === 'NoContact';
  });
}
