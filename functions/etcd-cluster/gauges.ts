// Shows for each EtcdCluster how its members are and since when something is wrong, for alerts.
import type { Metrics } from '../../shared/function/metrics.ts';
import { type Seen, ServersGauges, sinceOf } from '../../shared/stateful/servers-gauges.ts';
import { unhealthyReason } from './safety.ts';
import { type State, votersOf } from './state.ts';

const OF = {
  prefix: 'ballast_etcd_cluster',
  kind: 'an EtcdCluster',
  label: 'etcdcluster',
};

const HELP = {
  voters_healthy: 'Voting members of an EtcdCluster that are healthy.',
  voters_wanted: 'Voting members that an EtcdCluster is to have; 0 while it hibernates.',
  quorum_lost_since_timestamp_seconds:
    'Since when an EtcdCluster has no quorum, in Unix seconds; 0 while it has one. Absent while ' +
    'that is unknown.',
  certificate_end_timestamp_seconds:
    'The first end of the certificates of an EtcdCluster, in Unix seconds. Absent where none are ' +
    'known.',
};

export class EtcdClusterGauges {
  readonly #gauges: ServersGauges<keyof typeof HELP>;

  constructor(metrics: Metrics) {
    this.#gauges = new ServersGauges(metrics, OF, HELP);
  }

  show(state: State, seen: Seen): void {
    const { cluster, parts } = state;
    const voters = votersOf(state);
    this.#gauges.show(cluster, seen, {
      voters_healthy: voters.filter((one) => unhealthyReason(state, one) === undefined).length,
      voters_wanted: cluster.spec.replicas,
      quorum_lost_since_timestamp_seconds: quorumLostSince(state, seen),
      certificate_end_timestamp_seconds: parts.servedUntilMs && parts.servedUntilMs / 1_000,
    });
  }

  keepOnly(uids: ReadonlySet<string>): void {
    this.#gauges.keepOnly(uids);
  }
}

function quorumLostSince({ cluster }: State, seen: Seen): number | undefined {
  const isQuorate = seen.conditions.some(
    ({ type, status }) => type === 'Quorate' && status === 'True',
  );
  return isQuorate ? 0 : sinceOf(cluster, seen, 'Quorate', (status) => status === 'False');
}
