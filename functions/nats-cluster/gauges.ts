// Metrics of each NatsCluster, for alerts: how its servers are, and since when something is wrong.
// shown.ts has the values.
import type { Metrics } from '../../shared/function/metrics.ts';
import { ServersGauges } from '../../shared/stateful/servers-gauges.ts';

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

export type NatsClusterGauge = keyof typeof HELP;

export class NatsClusterGauges extends ServersGauges<NatsClusterGauge> {
  constructor(metrics: Metrics) {
    super(metrics, OF, HELP);
  }
}
