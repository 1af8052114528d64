// Metrics of each EtcdCluster, for alerts: how its members are, and since when something is wrong.
// shown.ts has the values.
import type { Metrics } from '../../shared/function/metrics.ts';
import { ServersGauges } from '../../shared/stateful/servers-gauges.ts';

const OF = {
  prefix: 'ballast_etcd_cluster',
  kind: 'an EtcdCluster',
  label: 'etcdcluster',
};

const HELP = {
  voters_healthy: 'Voting members of an EtcdCluster that are healthy.',
  voters_wanted: 'Voting members that an EtcdCluster is to have; 0 while it hibernates.',
  quorum_lost_since_timestamp_seconds:
    'Since when an EtcdCluster has no quorum, or no member of it answers, in Unix seconds; 0 ' +
    'while it has one. Absent while nobody could ask.',
  certificate_end_timestamp_seconds:
    'The first end of the certificates of an EtcdCluster, in Unix seconds. Absent where none are ' +
    'known.',
};

export type EtcdClusterGauge = keyof typeof HELP;

export class EtcdClusterGauges extends ServersGauges<EtcdClusterGauge> {
  constructor(metrics: Metrics) {
    super(metrics, OF, HELP);
  }
}
