// Shows for each NatsCluster how its servers are and since when something is wrong, for alerts.
import type { Metrics } from '../../shared/function/metrics.ts';
import type { Seen } from '../../shared/stateful/keeping.ts';
import { ServersGauges } from '../../shared/stateful/servers-gauges.ts';
import { atRisk } from './safety.ts';
import { expected, isUp, type State } from './state.ts';

const OF = {
  prefix: 'ballast_nats_cluster',
  kind: 'a NatsCluster',
  label: 'natscluster',
};

const HELP = {
  servers_ready: 'Servers of a NatsCluster that answer and whose pods are ready.',
  servers_wanted: 'Servers that a NatsCluster is to have.',
  streams_at_risk:
    'Streams and consumers of a NatsCluster that are not current on all of their servers, so ' +
    'that one server less could take their quorum; without those of spec.waive. Absent while no ' +
    'server answers.',
  certificate_end_timestamp_seconds:
    'The first end of the certificates that the servers of a NatsCluster have, in Unix seconds. ' +
    'Absent where none are known.',
};

export class NatsClusterGauges {
  readonly #gauges: ServersGauges<keyof typeof HELP>;

  constructor(metrics: Metrics) {
    this.#gauges = new ServersGauges(metrics, OF, HELP);
  }

  show(state: State, seen: Seen): void {
    const { cluster, parts, nats } = state;
    const { servedUntilMs } = parts;
    this.#gauges.show(cluster, seen, {
      servers_ready: expected(state).filter((one) => isUp(state, one)).length,
      servers_wanted: cluster.spec.replicas,
      streams_at_risk: nats.servers.size === 0 ? undefined : atRisk(state).length,
      certificate_end_timestamp_seconds: servedUntilMs && servedUntilMs / 1_000,
    });
  }

  keepOnly(uids: ReadonlySet<string>): void {
    this.#gauges.keepOnly(uids);
  }
}
