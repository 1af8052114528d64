// The values that metrics show of a NatsCluster, by the state as observed. Pure.
import type { NatsClusterGauge } from './gauges.ts';
import { atRisk } from './safety.ts';
import { expected, isUp, type State } from './state.ts';

export function shownOf(state: State): Readonly<Record<NatsClusterGauge, number | undefined>> {
  const { cluster, parts, nats } = state;
  const { servedUntilMs } = parts;
  return {
    servers_ready: expected(state).filter((one) => isUp(state, one)).length,
    servers_wanted: cluster.spec.replicas,
    streams_at_risk: nats.servers.size === 0 ? undefined : atRisk(state).length,
    certificate_end_timestamp_seconds: servedUntilMs && servedUntilMs / 1_000,
  };
}
