// EtcdCluster: the retention of a compaction has a unit.
import type { Part } from '../part.ts';
import { compaction } from '../parts/compaction.ts';

/** The parts of a spec, also where another kind has one of an EtcdCluster to be made. */
export const etcdClusterSpec = (at: readonly string[]): readonly Part[] => [
  compaction([...at, 'compaction']),
];

export const ETCD_CLUSTER: readonly Part[] = etcdClusterSpec(['spec']);
